import type { CommandContext } from "../../commands/store-command.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { EventList } from "../../model/events/event-log.ts";
import type { Subject } from "../../model/views/view.ts";
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
import type { Hint, Overlays } from "./overlay.ts";

// What the parts of the console share. A function names only what it needs.

/** How the user has arranged the console. */
export interface StateAccess {
  readonly state: ConsoleState;
}

export interface StateUpdates extends StateAccess {
  /** Changes the console state; the screen follows. */
  update(change: (state: ConsoleState) => ConsoleState): void;
}

export interface ThemeAccess {
  readonly theme: Theme;
}

export interface ClockAccess {
  /** The time that the screen is about, ms since the epoch: the wall clock, or a past time. */
  getWallTime(): number;
  /** The wall clock for displayed ages: it moves in steps, because each change is written to the terminal. */
  getShownTime(): number;
  /** Wall clock, ms since the epoch. */
  getPresentTime(): number;
}

export interface LineAccess {
  /** Whether the line to the terminal is slow: each cell costs time. */
  readonly isLineSlow: boolean;
}

export interface LayoutAccess {
  getScreenSize(): Size;
  /** Undefined if the screen is too small. */
  getLayout(): Layout | undefined;
}

/** What is known of the cluster. */
export interface DataAccess {
  /** What is shown: the live state, or a past one. */
  readonly liveView: ShownData;
  getTabCounts(): TabCounts;
}

export interface TableAccess {
  /** The table of the active tab. */
  readonly table: ConsoleTable;
  /** The table that the panel shows, if it shows one. */
  getPanelTable(): ConsoleTable | undefined;
}

export interface TreeAccess {
  readonly tree: ExplorerTree;
}

export interface SubjectAccess {
  /** The subject that the detail shows and that actions apply to. */
  getSubject(): Subject | undefined;
}

export interface DetailAccess {
  getDetail(): Detail | undefined;
}

export interface JobAccess {
  readonly jobs: Jobs;
}

export interface TravelAccess {
  readonly travel: TimeTravel;
}

export interface LogAccess {
  readonly events: EventList;
  readonly log: ScreenLog;
}

export interface OverlayAccess {
  readonly overlays: Overlays;
}

export interface SettingsAccess {
  readonly context: CommandContext;
  readonly isReadOnly: boolean;
}

export interface ContextAccess {
  readonly contexts: ContextList;
  /** Ends everything of the present cluster and shows another one. @param name  undefined: as the console was started */
  switchContext(name: string | undefined): void;
}

export interface DraftAccess {
  /** Definitions that were edited and not stored. */
  readonly drafts: Drafts;
}

export interface EnvironmentAccess {
  /** The variables of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface KeymapAccess {
  readonly keymap: Keymap;
}

export interface HintAccess {
  getHints(): readonly Hint[];
}

export interface ActionRunner {
  /** Runs an action by its id. */
  act(id: string): void;
}

export interface ChangeNotifier {
  /** Requests a repaint after a change outside the console state. */
  notifyChange(): void;
}

export interface FrameAccess {
  /**
   * Runs `action` when what is being painted is on the screen: the terminal has answered after it, or it never answers. Call it while a
   * frame is built.
   */
  runWhenShown(action: () => void): void;
}

export interface ToastAccess {
  /** @param isTrue  called for every frame: the toast disappears as soon as it returns false */
  showToast(text: string, tone?: "held" | "problem" | "quiet", isTrue?: () => boolean): void;
}

export interface ClipboardAccess {
  /** Copies a text to the clipboard of the user's terminal. */
  copy(text: string, what: string): void;
}

export interface TerminalControl {
  suspend(): void;
  /** Lends the terminal to another program until the promise settles; then repaints everything. */
  lendTerminal<T>(use: () => Promise<T>): Promise<T>;
  /** Repaints the whole screen. */
  redraw(): void;
  quit(code?: number): void;
}

/** What tells which rows are chosen: the marked ones, or the one under the cursor. */
export type SelectionAccess = DataAccess &
  DetailAccess &
  LayoutAccess &
  StateAccess &
  SubjectAccess &
  TableAccess &
  ThemeAccess;

/** What a dialog needs to preview a command, and to run it as a job. */
export type DialogPorts = ChangeNotifier &
  ClipboardAccess &
  DataAccess &
  FrameAccess &
  JobAccess &
  KeymapAccess &
  OverlayAccess &
  SettingsAccess &
  StateUpdates &
  ThemeAccess &
  ToastAccess;

/** What the cursors of all panes depend on. */
export type CursorAccess = DataAccess & JobAccess & LayoutAccess & StateAccess & TableAccess & TreeAccess;
