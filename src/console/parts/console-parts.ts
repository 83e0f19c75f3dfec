import type { CommandContext } from "../../commands/store-command.ts";
import type { Subject } from "../../state/subject.ts";
import type { Detail } from "../../views/detail.ts";
import type { EventList } from "../../views/event-log.ts";
import type { ConsoleTable } from "../data/console-table.ts";
import type { ContextList } from "../data/context-list.ts";
import type { ExplorerTree, TabCounts } from "../data/explorer-tree.ts";
import type { Jobs } from "../data/jobs.ts";
import type { ShownData } from "../data/live-view.ts";
import type { ScreenLog } from "../data/screen-log.ts";
import type { TimeTravel } from "../data/time-travel.ts";
import type { ConsoleState } from "../state/console-state.ts";
import type { Layout, Size } from "../state/layout.ts";
import type { Theme } from "../theme/theme.ts";
import type { Drafts } from "./drafts.ts";
import type { Keymap } from "./keymap.ts";
import type { Overlays } from "./overlay.ts";

/**
 * The console as its own functions see it: what it shows, what it consists of, and what it can do. `ConsoleApp` connects it. A function that
 * needs one or two of these values takes the values.
 */
export interface ConsoleParts {
  /** How the user has arranged the console. */
  readonly state: ConsoleState;
  /** Changes the console state; the screen follows. */
  update(change: (state: ConsoleState) => ConsoleState): void;
  readonly context: CommandContext;
  readonly isReadOnly: boolean;
  /** The variables of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly keymap: Keymap;
  /** The time that the screen is about, ms since the epoch: the wall clock, or a past time. */
  getWallTime(): number;
  /** The wall clock for displayed ages: it moves in steps, because each change is written to the terminal. */
  getShownTime(): number;
  /** Wall clock, ms since the epoch. */
  getPresentTime(): number;
  readonly theme: Theme;
  /** Whether the line to the terminal is slow: each cell costs time. */
  readonly isLineSlow: boolean;
  getScreenSize(): Size;
  /** Undefined if the screen is too small. */
  getLayout(): Layout | undefined;
  /** What is shown: the live state, or a past one. */
  readonly liveView: ShownData;
  getTabCounts(): TabCounts;
  readonly travel: TimeTravel;
  readonly contexts: ContextList;
  /** Ends everything of the present cluster and shows another one. @param name  undefined: as the console was started */
  switchContext(name: string | undefined): void;
  /** The table of the active tab. */
  readonly table: ConsoleTable;
  /** The table that the panel shows, if it shows one. */
  getPanelTable(): ConsoleTable | undefined;
  readonly tree: ExplorerTree;
  /** The subject that the detail shows and that actions apply to. */
  getSubject(): Subject | undefined;
  getDetail(): Detail | undefined;
  readonly events: EventList;
  readonly log: ScreenLog;
  readonly jobs: Jobs;
  /** Definitions that were edited and not stored. */
  readonly drafts: Drafts;
  readonly overlays: Overlays;
  /** Runs an action by its id. */
  act(id: string): void;
  /** Requests a repaint after a change outside the console state. */
  notifyChange(): void;
  /**
   * Runs `action` when what is being painted is on the screen: the terminal has answered after it, or it never answers. Call it while a
   * frame is built.
   */
  runWhenShown(action: () => void): void;
  /** @param isTrue  called for every frame: the toast disappears as soon as it returns false */
  showToast(text: string, tone?: "held" | "problem" | "quiet", isTrue?: () => boolean): void;
  /** Copies a text to the clipboard of the user's terminal. */
  copy(text: string, what: string): void;
  suspend(): void;
  /** Lends the terminal to another program until the promise settles; then repaints everything. */
  lendTerminal<T>(use: () => Promise<T>): Promise<T>;
  /** Repaints the whole screen. */
  redraw(): void;
  quit(code?: number): void;
}
