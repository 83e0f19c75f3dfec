import type { SortOrder } from "../../model/views/sort.ts";
import { type ConsoleState, createInitialState, PANELS, TABS, type TabState } from "./console-state.ts";
import { restoreUserSizes, type UserSizes } from "./user-sizes.ts";
import { restoreWatchedRows, type WatchedRow } from "./watched-rows.ts";

/** The part of the console state that is kept between sessions. */
export interface ConsolePreferences {
  tab: string;
  theme: string;
  recent: readonly string[];
  sizes: UserSizes;
  watched: readonly WatchedRow[];
  explorer: { isOpen: boolean; open: readonly string[] | undefined };
  panel: { isOpen: boolean; id: string };
  /** Filter and order by tab. */
  tabs: Readonly<Record<string, { filter: string; order: SortOrder | undefined }>>;
}

export function toConsolePreferences({
  tab,
  tabs,
  explorer,
  panel,
  theme,
  recent,
  sizes,
  watched,
}: ConsoleState): ConsolePreferences {
  return {
    ...{ tab, theme, recent, sizes, watched },
    explorer: { isOpen: explorer.isOpen, open: explorer.open && [...explorer.open] },
    panel: { isOpen: panel.isOpen, id: panel.id },
    tabs: Object.fromEntries(TABS.map((id) => [id, { filter: tabs[id].filter, order: tabs[id].order }])),
  };
}

/** Restores the console state from stored preferences. Ignores values that are invalid or of another version. */
export function restoreState(kept: unknown): ConsoleState {
  const state = createInitialState();
  if (!isRecord(kept)) return state;
  const explorer = isRecord(kept.explorer) ? kept.explorer : {};
  const panel = isRecord(kept.panel) ? kept.panel : {};
  const tabs = isRecord(kept.tabs) ? kept.tabs : {};
  return {
    ...state,
    tab: TABS.find((id) => id === kept.tab) ?? state.tab,
    recent: Array.isArray(kept.recent) ? kept.recent.filter(isText) : state.recent,
    watched: restoreWatchedRows(kept.watched),
    sizes: restoreUserSizes(kept.sizes),
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
    tabs: Object.fromEntries(
      TABS.map((id) => [id, restoreTab(state.tabs[id], tabs[id])]),
    ) as ConsoleState["tabs"],
  };
}

function restoreTab(tab: TabState, kept: unknown): TabState {
  if (!isRecord(kept)) return tab;
  return { ...tab, filter: isText(kept.filter) ? kept.filter : "", order: parseStoredOrder(kept.order) };
}

function parseStoredOrder(kept: unknown): SortOrder | undefined {
  if (!isRecord(kept) || !isText(kept.column)) return undefined;
  return { column: kept.column, descending: kept.descending === true };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length < 500;
}
