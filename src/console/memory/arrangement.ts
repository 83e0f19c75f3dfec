import type { Order } from "../../model/tables/sort.ts";
import { initialState, PANELS, type State, TABS, type TabState } from "../state/state.ts";

/** What of the arrangement is worth keeping from one day to the next. */
export interface Arrangement {
  tab: string;
  theme: string;
  recent: readonly string[];
  explorer: { isOpen: boolean; open: readonly string[] | undefined };
  panel: { isOpen: boolean; id: string };
  /** Filter and order by tab. */
  tabs: Readonly<Record<string, { filter: string; order: Order | undefined }>>;
}

export function arrangementOf({ tab, tabs, explorer, panel, theme, recent }: State): Arrangement {
  return {
    ...{ tab, theme, recent },
    explorer: { isOpen: explorer.isOpen, open: explorer.open && [...explorer.open] },
    panel: { isOpen: panel.isOpen, id: panel.id },
    tabs: Object.fromEntries(TABS.map((id) => [id, { filter: tabs[id].filter, order: tabs[id].order }])),
  };
}

/** The arrangement as it was left. What is none, or of another version, is passed over: it is only a convenience. */
export function arranged(kept: unknown): State {
  const state = initialState();
  if (!isRecord(kept)) return state;
  const explorer = isRecord(kept.explorer) ? kept.explorer : {};
  const panel = isRecord(kept.panel) ? kept.panel : {};
  const tabs = isRecord(kept.tabs) ? kept.tabs : {};
  return {
    ...state,
    tab: TABS.find((id) => id === kept.tab) ?? state.tab,
    recent: Array.isArray(kept.recent) ? kept.recent.filter(isText) : state.recent,
    theme: typeof kept.theme === "string" ? kept.theme : state.theme,
    explorer: {
      ...state.explorer,
      isOpen: explorer.isOpen !== false,
      open: Array.isArray(explorer.open) ? new Set(explorer.open.filter(isText)) : state.explorer.open,
    },
    panel: {
      ...state.panel,
      isOpen: panel.isOpen !== false,
      id: PANELS.find((id) => id === panel.id) ?? state.panel.id,
    },
    tabs: Object.fromEntries(TABS.map((id) => [id, withKept(state.tabs[id], tabs[id])])) as State["tabs"],
  };
}

function withKept(tab: TabState, kept: unknown): TabState {
  if (!isRecord(kept)) return tab;
  return { ...tab, filter: isText(kept.filter) ? kept.filter : "", order: orderOf(kept.order) };
}

function orderOf(kept: unknown): Order | undefined {
  if (!isRecord(kept) || !isText(kept.column)) return undefined;
  return { column: kept.column, descending: kept.descending === true };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length < 500;
}
