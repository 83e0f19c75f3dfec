import {
  type ConsoleState,
  createInitialState,
  PANELS,
  type SavedView,
  TABS,
  type TabState,
} from "./console-state.ts";
import { openStartView, restoreSavedViews } from "./saved-views.ts";
import { isStoredRecord, isStoredText, restoreTableChoice } from "./stored-values.ts";
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
  /** Filter, order and columns by tab. */
  tabs: Readonly<Record<string, Pick<TabState, "filter" | "order" | "columns">>>;
  views: readonly SavedView[];
  startView: string | undefined;
}

export function toConsolePreferences({
  tab,
  tabs,
  explorer,
  panel,
  theme,
  recent,
  savedViews: views,
  startView,
  sizes,
  watched,
}: ConsoleState): ConsolePreferences {
  return {
    tab,
    theme,
    recent,
    views,
    startView,
    sizes,
    watched,
    explorer: { isOpen: explorer.isOpen, open: explorer.open && [...explorer.open] },
    panel: { isOpen: panel.isOpen, id: panel.id },
    tabs: Object.fromEntries(
      TABS.map((id) => {
        const { filter, order, columns } = tabs[id];
        return [id, { filter, order, columns }];
      }),
    ),
  };
}

/** Restores the console state from stored preferences. Ignores values that are invalid or of another version. */
export function restoreState(kept: unknown): ConsoleState {
  const state = createInitialState();
  if (!isStoredRecord(kept)) return state;
  const explorer = isStoredRecord(kept.explorer) ? kept.explorer : {};
  const panel = isStoredRecord(kept.panel) ? kept.panel : {};
  const tabs = isStoredRecord(kept.tabs) ? kept.tabs : {};
  return openStartView({
    ...state,
    ...restoreSavedViews(kept),
    tab: TABS.find((id) => id === kept.tab) ?? state.tab,
    recent: Array.isArray(kept.recent) ? kept.recent.filter(isStoredText) : state.recent,
    watched: restoreWatchedRows(kept.watched),
    sizes: restoreUserSizes(kept.sizes),
    theme: typeof kept.theme === "string" ? kept.theme : state.theme,
    explorer: {
      ...state.explorer,
      isOpen: explorer.isOpen !== false,
      open: Array.isArray(explorer.open) ? new Set(explorer.open.filter(isStoredText)) : state.explorer.open,
    },
    panel: {
      ...state.panel,
      isOpen: panel.isOpen !== false,
      id: PANELS.find((id) => id === panel.id) ?? state.panel.id,
    },
    tabs: Object.fromEntries(
      TABS.map((id) => [id, restoreTab(state.tabs[id], tabs[id])]),
    ) as ConsoleState["tabs"],
  });
}

function restoreTab(tab: TabState, kept: unknown): TabState {
  if (!isStoredRecord(kept)) return tab;
  return { ...tab, ...restoreTableChoice(kept) };
}
