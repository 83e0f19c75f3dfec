import type { CommandContext } from "../../commands/store-command.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { EventLog } from "../../model/events/event-log.ts";
import type { Subject } from "../../model/views/view.ts";
import type { Keymap } from "../actions/keys/keymap.ts";
import type { ConsoleTable } from "../data/console-table.ts";
import type { TabCounts } from "../data/explorer/build-tree.ts";
import type { ExplorerTree } from "../data/explorer/explorer-tree.ts";
import type { LiveView } from "../data/live-view.ts";
import type { ScreenLog } from "../data/screen-log.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { ConsoleState, Toast } from "../state/console-state.ts";
import type { Layout, Size } from "../state/layout.ts";
import type { Theme } from "../theme/theme.ts";
import type { Hint, Overlays } from "./overlay.ts";

// What the parts of the console share.

/** What can be read from the console. View models and previews are built from it. */
export interface ConsoleData {
  readonly context: CommandContext;
  readonly isReadOnly: boolean;
  readonly keymap: Keymap;
  readonly theme: Theme;
  /** How the user has arranged the console. */
  readonly state: ConsoleState;
  readonly liveView: LiveView;
  /** The table of the active tab. */
  readonly table: ConsoleTable;
  readonly tree: ExplorerTree;
  readonly jobs: Jobs;
  readonly events: EventLog;
  readonly log: ScreenLog;
  readonly overlays: Overlays;
  /** Wall clock, ms since the epoch. */
  getWallTime(): number;
  getScreenSize(): Size;
  /** Undefined if the screen is too small. */
  getLayout(): Layout | undefined;
  getTabCounts(): TabCounts;
  /** The table that the panel shows, if it shows one. */
  getPanelTable(): ConsoleTable | undefined;
  /** The subject that the detail shows and that actions apply to. */
  getSubject(): Subject | undefined;
  getDetail(): Detail | undefined;
  getHints(): readonly Hint[];
}

/** What actions and overlays change the console with. */
export interface ConsoleControls extends ConsoleData {
  /** Changes the console state; the screen follows. */
  update(change: (state: ConsoleState) => ConsoleState): void;
  /** Requests a repaint after a change outside the console state. */
  notifyChange(): void;
  /** Runs an action by its id. */
  act(id: string): void;
  /** @param isTrue  called for every frame: the toast disappears as soon as it returns false */
  showToast(text: string, tone?: Toast["tone"], isTrue?: () => boolean): void;
  /** Copies a text to the clipboard of the user's terminal. */
  copy(text: string, what: string): void;
  suspend(): void;
  /** Repaints the whole screen. */
  redraw(): void;
  quit(code?: number): void;
}
