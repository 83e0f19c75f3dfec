import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import type { Detail } from "../model/detail/detail.ts";
import type { EventLog } from "../model/events/index.ts";
import type { Subject } from "../model/views/view.ts";
import type { Jobs } from "./actions/commands/jobs.ts";
import type { Keymap } from "./actions/keys/keymap.ts";
import type { ConsoleTable } from "./data/console-table.ts";
import type { TabCounts } from "./data/explorer/build-tree.ts";
import type { ExplorerTree } from "./data/explorer/explorer-tree.ts";
import type { LiveView } from "./data/live-view.ts";
import type { ScreenLog } from "./data/screen-log.ts";
import type { Hint, Overlays } from "./overlays/overlay.ts";
import type { ConsoleState } from "./state/console-state.ts";
import type { Layout, Size } from "./state/layout.ts";
import type { StateStore } from "./state/store.ts";
import type { Theme } from "./theme/theme.ts";

/** What the parts of the console share. */
export interface App {
  readonly context: CommandContext;
  readonly io: CommandIo;
  /** The console's own command line, with its connection settings. */
  readonly call: Call;
  readonly store: StateStore<ConsoleState>;
  readonly state: ConsoleState;
  readonly liveView: LiveView;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly events: EventLog;
  readonly log: ScreenLog;
  readonly keymap: Keymap;
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  /** The table of the active tab. */
  readonly table: ConsoleTable;
  readonly tree: ExplorerTree;
  /** Wall clock, ms since the epoch. */
  getWallTime(): number;
  getScreenSize(): Size;
  /** Undefined if the screen is too small. */
  getLayout(): Layout | undefined;
  getTabCounts(): TabCounts;
  /** The subject that the detail shows and that actions apply to. */
  getSubject(): Subject | undefined;
  getDetail(): Detail | undefined;
  /** The table that the panel shows, if it shows one. */
  getPanelTable(): ConsoleTable | undefined;
  getHints(): readonly Hint[];
  /** Runs an action by its id. */
  act(id: string): void;
  /** Changes the console state; the screen follows. */
  update(change: (state: ConsoleState) => ConsoleState): void;
  /** Requests a repaint after a change outside the console state. */
  notifyChange(): void;
  /** @param isTrue  called for every frame: the toast disappears as soon as it returns false */
  showToast(text: string, tone?: "held" | "problem" | "quiet", isTrue?: () => boolean): void;
  /** Copies a text to the clipboard of the user's terminal. */
  copy(text: string, what: string): void;
  suspend(): void;
  /** Repaints the whole screen. */
  redraw(): void;
  quit(code?: number): void;
}
