import type { ViewId } from "../../model/tables/index.ts";
import type { Order } from "../../model/tables/sort.ts";

/** The parts of the screen that can have the keyboard. */
export const PANES = ["explorer", "table", "detail", "panel"] as const;
export type Pane = (typeof PANES)[number];

/** What the panel can show. */
export const PANELS = ["events", "jobs", "problems", "audit", "log"] as const;
export type PanelId = (typeof PANELS)[number];

/** The views that have a tab, in their order. */
export const TABS = [
  "locks",
  "resources",
  "queues",
  "hosts",
  "groups",
  "drains",
  "schedules",
  "history",
  "audit",
  "problems",
] as const satisfies readonly ViewId[];
export type TabId = (typeof TABS)[number];

/** A place in a list that follows what it is on, not where that was. */
export interface Cursor {
  /** Key of the row; undefined until there is one. */
  key: string | undefined;
  /** Where it was last: the row that comes to stand there is next, when its own goes. */
  index: number;
  /** The first row in sight. */
  top: number;
}

/** How one table is looked at. */
export interface TabState {
  cursor: Cursor;
  /** As it is typed. */
  filter: string;
  /** Undefined: in the view's own. */
  order: Order | undefined;
  /** Keys of marked rows. */
  marks: ReadonlySet<string>;
  /** Where a range of marks began: the key of a row. */
  anchor: string | undefined;
}

/** How the user has arranged what there is to see. What there is, is in the sight. */
export interface State {
  tab: TabId;
  tabs: Readonly<Record<TabId, TabState>>;
  focus: Pane;
  /** The pane that has the screen for itself. */
  zoomed: Pane | undefined;
  /** What is unfolded; undefined until the user has said, or there is something to see. */
  explorer: { isOpen: boolean; cursor: Cursor; open: ReadonlySet<string> | undefined };
  /** Lines scrolled down. */
  detail: { top: number };
  panel: { isOpen: boolean; id: PanelId; top: number; cursor: Cursor };
  /** One line that goes by itself. */
  toast: Toast | undefined;
  theme: string;
  /** What was chosen in the palette, the newest first. */
  recent: readonly string[];
}

/** How long a toast is shown, ms. */
export const TOAST = 6_000;

export interface Toast {
  text: string;
  tone: "held" | "problem" | "quiet";
  /** Wall clock, ms since the epoch, until when it is shown. */
  until: number;
  /** The action that is done when it is asked for again while this is shown. */
  asks?: string;
}

export const START: Cursor = { key: undefined, index: 0, top: 0 };

function freshTab(): TabState {
  return { cursor: START, filter: "", order: undefined, marks: new Set(), anchor: undefined };
}

/** How the console begins where nothing is remembered. */
export function initialState(): State {
  const tabs = Object.fromEntries(TABS.map((id) => [id, freshTab()])) as Record<TabId, TabState>;
  return {
    ...{ tab: "locks", tabs, focus: "table", zoomed: undefined },
    explorer: { isOpen: true, cursor: START, open: undefined },
    detail: { top: 0 },
    panel: { isOpen: true, id: "events", top: 0, cursor: START },
    toast: undefined,
    theme: "auto",
    recent: [],
  };
}
