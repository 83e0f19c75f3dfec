import { isDeepStrictEqual } from "node:util";
import type { EtcdViewId, ViewId } from "../../cli/views/index.ts";
import type { SortOrder } from "../../cli/views/sort.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { type Cursor, clamp, clampCursor, type RowList, START_CURSOR } from "./cursor.ts";
import type { WatchedRow } from "./watched-rows.ts";

/** The parts of the screen that can have the focus. */
export const PANES = ["explorer", "table", "detail", "panel"] as const;
export type Pane = (typeof PANES)[number];

/** The views of the panel. */
export const PANELS = ["events", "jobs", "problems", "audit", "log"] as const;
export type PanelId = (typeof PANELS)[number];

/**
 * The tabs about etcd itself. The line of tabs has one entry for all of them, and a separate line leads from one to the
 * other.
 */
export const ETCD_TABS = ["members", "sessions", "users"] as const satisfies readonly EtcdViewId[];

/** The tabs, in display order. The overview shows its picture above the problems, the other tabs their view. */
export const TABS = [
  "overview",
  "locks",
  "resources",
  "macros",
  "queues",
  "hosts",
  "groups",
  "drains",
  "schedules",
  "history",
  "audit",
  "problems",
  ...ETCD_TABS,
] as const satisfies readonly (ViewId | EtcdViewId)[];
export type TabId = (typeof TABS)[number];

/** Returns the view whose rows a tab lists. */
export function getTabView(tab: TabId): ViewId | EtcdViewId {
  return tab === "overview" ? "problems" : tab;
}

/** Whether a tab is about etcd itself. */
export function isEtcdTab(tab: TabId): tab is EtcdViewId {
  return ETCD_TABS.some((one) => one === tab);
}

/** The display settings of one table. */
export interface TabState {
  cursor: Cursor;
  /** As typed. */
  filter: string;
  /** Undefined: the default order of the view. */
  order: SortOrder | undefined;
  /** Ids of the chosen columns, in order. Undefined: those of the view. */
  columns: readonly string[] | undefined;
  /** Id of the column of the selected cell, in a table whose cells are objects; of the selected part of the overview's picture. */
  cell?: string | undefined;
  /** Keys of marked rows. */
  marks: ReadonlySet<string>;
  /** Key of the row where a range of marks starts. */
  anchor: string | undefined;
}

/** The table beside the active one. */
interface Split {
  tab: TabId;
  tabs: Readonly<Record<TabId, TabState>>;
  /** Whether it is at the right of the active one, or below it. */
  isRight: boolean;
}

/** A place that the user has been to. */
export interface Place {
  tab: TabId;
  /** Key of the row; undefined if the tab had none. */
  key: string | undefined;
  filter: string;
  focus: Pane;
  /** Id of the node under the cursor of the explorer. */
  node: string | undefined;
}

/** The places before and after the current one; the nearest is last in each. */
export interface PlaceHistory {
  past: readonly Place[];
  future: readonly Place[];
}

/** The user's arrangement of the console. The data itself is in the live view. */
export interface ConsoleState {
  /** Those of the active table. */
  tab: TabId;
  tabs: Readonly<Record<TabId, TabState>>;
  split: Split | undefined;
  focus: Pane;
  /** The pane that fills the screen. */
  zoomed: Pane | undefined;
  /** `open` holds the unfolded nodes; undefined until the user changes it, or until there is data. */
  explorer: { isOpen: boolean; cursor: Cursor; open: ReadonlySet<string> | undefined };
  /** Number of lines scrolled down, and the index of the selected row among those with a target. */
  detail: { top: number; row?: number | undefined };
  panel: { isOpen: boolean; id: PanelId; top: number; cursor: Cursor };
  /** A one-line message that disappears by itself. */
  toast: Toast | undefined;
  theme: string;
  /** The theme of the settings, shown until the user chooses another. Not stored: a flag holds for one session. */
  configuredTheme: string | undefined;
  /** Ids chosen in the palette, newest first. */
  recent: readonly string[];
  /** Named views of this cluster, and the name of the one to start with. */
  savedViews: readonly SavedView[];
  startView: string | undefined;
  places: PlaceHistory;
  /** Rows whose changes the user is notified of. */
  watched: readonly WatchedRow[];
  /** Sizes of panes that the user has chosen. */
  sizes: UserSizes;
  /** The border that was pressed last, when (wall clock, ms), and whether the button is still down. */
  pressed: { border: Border; at: WallTime; isHeld: boolean } | undefined;
}

/** Returns the state with a change of one tab: the active one, or another. */
export function updateTab(
  state: ConsoleState,
  change: Partial<TabState>,
  tab: TabId = state.tab,
): ConsoleState {
  return { ...state, tabs: { ...state.tabs, [tab]: { ...state.tabs[tab], ...change } } };
}

/** Puts a second table to the right of the only one, or removes the one that is not active. */
export function toggleSplit(state: ConsoleState): ConsoleState {
  const { tab, tabs, split } = state;
  if (split !== undefined) return { ...state, split: undefined };
  const own = TABS.map((id): [TabId, TabState] => {
    return [id, { ...tabs[id], marks: new Set<string>(), anchor: undefined, filter: "" }];
  });
  return {
    ...state,
    tabs: Object.fromEntries(own) as ConsoleState["tabs"],
    split: { tab, tabs, isRight: false },
    focus: "table",
    zoomed: undefined,
  };
}

/** Makes the other table the active one. */
export function swapTables(state: ConsoleState): ConsoleState {
  const { tab, tabs, split } = state;
  if (split === undefined) return state;
  const { isRight, ...active } = split;
  return { ...state, ...active, split: { tab, tabs, isRight: !isRight }, detail: { top: 0 } };
}

/** A tab with its filter, order and columns, under a name. */
export interface SavedView {
  name: string;
  tab: TabId;
  filter: string;
  order: SortOrder | undefined;
  columns: readonly string[] | undefined;
}

/** How long a toast is shown, ms. */
export const TOAST_DURATION = 6_000;

interface Toast {
  text: string;
  tone: "held" | "problem" | "quiet";
  /** End of display. */
  until: WallTime;
  /** Whether the message still holds; if not, it is removed. Called for every frame. */
  isTrue?: (() => boolean) | undefined;
  /** The action that runs if it is requested again while this toast is shown. */
  asks?: string;
}

function createTabState(): TabState {
  return {
    cursor: START_CURSOR,
    filter: "",
    order: undefined,
    columns: undefined,
    marks: new Set<string>(),
    anchor: undefined,
  };
}

/** Returns the initial state, for a console without stored preferences. */
export function createInitialState(): ConsoleState {
  const tabs = Object.fromEntries(TABS.map((id) => [id, createTabState()])) as Record<TabId, TabState>;
  return {
    tab: "overview",
    tabs,
    split: undefined,
    focus: "table",
    zoomed: undefined,
    explorer: { isOpen: true, cursor: START_CURSOR, open: undefined },
    detail: { top: 0 },
    panel: { isOpen: true, id: "events", top: 0, cursor: START_CURSOR },
    toast: undefined,
    theme: "auto",
    configuredTheme: undefined,
    recent: [],
    savedViews: [],
    startView: undefined,
    places: { past: [], future: [] },
    watched: [],
    sizes: {},
    pressed: undefined,
  };
}

/** The borders between panes that the user can move. */
const BORDERS = ["explorer", "split", "detailHeight", "detailWidth", "panel"] as const;
export type Border = (typeof BORDERS)[number];

/** Sizes that the user has chosen, in columns or rows. The console computes the others from the screen. */
export type UserSizes = Readonly<Partial<Record<Border, number>>>;

/** Minimum columns or rows on each side of the border: of the pane, and of the others. */
const BORDER_LIMITS: Readonly<Record<Border, { least: number; others: number }>> = {
  explorer: { least: 14, others: 60 },
  split: { least: 40, others: 41 },
  detailHeight: { least: 3, others: 6 },
  detailWidth: { least: 30, others: 60 },
  panel: { least: 2, others: 10 },
};

/**
 * Returns the size of a pane: the user's, if the screen has room for it.
 * @param available  columns or rows of both sides of the border
 */
export function chooseSize(
  { sizes }: ConsoleState,
  border: Border,
  computed: number,
  available: number,
): number {
  const wanted = sizes[border];
  if (wanted === undefined) return computed;
  const { least, others } = BORDER_LIMITS[border];
  const most = available - others;
  return most < least ? computed : clamp(wanted, least, most);
}

/** Sets a size; `undefined` returns to the computed one. */
export function setUserSize(state: ConsoleState, border: Border, size: number | undefined): ConsoleState {
  const { [border]: before, ...others } = state.sizes;
  if (before === size) return state;
  return { ...state, sizes: size === undefined ? others : { ...others, [border]: Math.max(1, size) } };
}

/** Restores stored sizes. Ignores invalid ones. */
export function restoreUserSizes(kept: unknown): UserSizes {
  if (typeof kept !== "object" || kept === null) return {};
  const entries = Object.entries(kept).filter(
    ([border, size]) =>
      BORDERS.some((known) => known === border) && Number.isInteger(size) && size > 0 && size < 10_000,
  );
  return Object.fromEntries(entries);
}

type ListPane = Exclude<Pane, "detail">;

/** Rows, and the number of visible ones. */
export interface VisibleList {
  rows: RowList;
  height: number;
}

/** Those of these panes, and of the table that is not active. */
export type CursorLists = Readonly<
  Record<ListPane, VisibleList> & {
    beside?: VisibleList | undefined;
    /** Whether rows are still being read, and no key was pressed: the first row is then the one to select, wherever it was a moment ago. */
    isUntouched?: boolean;
  }
>;

export function getCursor(state: ConsoleState, pane: ListPane): Cursor {
  return pane === "table" ? state.tabs[state.tab].cursor : state[pane].cursor;
}

/** Sets a cursor. Returns the same object if nothing changes. If the row changes, the detail is scrolled to its top. */
export function setCursor(state: ConsoleState, pane: ListPane, cursor: Cursor): ConsoleState {
  const before = getCursor(state, pane);
  const isSameRow = before.key === cursor.key;
  if (isSameRow && before.index === cursor.index && before.top === cursor.top) return state;
  if (pane !== "table") return { ...state, [pane]: { ...state[pane], cursor } };
  return { ...updateTab(state, { cursor }), detail: isSameRow ? state.detail : { top: 0 } };
}

function clampInList(cursor: Cursor, { rows, height }: VisibleList, { isUntouched }: CursorLists): Cursor {
  return clampCursor(isUntouched && cursor.index === 0 ? START_CURSOR : cursor, rows, height);
}

function clampBeside(state: ConsoleState, lists: CursorLists): ConsoleState {
  const { split } = state;
  if (split === undefined || lists.beside === undefined) return state;
  const { cursor, ...others } = split.tabs[split.tab];
  const clamped = clampInList(cursor, lists.beside, lists);
  if (isDeepStrictEqual(clamped, cursor)) return state;
  const tabs = { ...split.tabs, [split.tab]: { ...others, cursor: clamped } };
  return { ...state, split: { ...split, tabs } };
}

/**
 * Returns the state with every cursor on an existing row, and without an expired toast; the same object if nothing
 * changes.
 */
export function clampCursors(state: ConsoleState, lists: CursorLists, now: WallTime): ConsoleState {
  const { panel, focus, toast } = state;
  // Without the focus, the job list shows the newest jobs.
  const isNewest = panel.id === "jobs" && focus !== "panel";
  const clamp = (before: ConsoleState, pane: ListPane) => {
    const cursor = isNewest && pane === "panel" ? START_CURSOR : getCursor(before, pane);
    return setCursor(before, pane, clampInList(cursor, lists[pane], lists));
  };
  const clamped = clampBeside((["table", "explorer", "panel"] as const).reduce(clamp, state), lists);
  // A clock that was set back must not keep a toast for hours.
  const isOver =
    toast !== undefined &&
    (toast.until <= now || toast.until > now + TOAST_DURATION || toast.isTrue?.() === false);
  return isOver ? { ...clamped, toast: undefined } : clamped;
}
