import { type ConsoleState, type SavedView, START_CURSOR, TABS } from "./console-state.ts";
import { isStoredRecord, isStoredText, restoreTableChoice } from "./stored-values.ts";

/** Maximum number of saved views of a cluster, and of characters of a name. */
export const MAX_SAVED_VIEWS = 50;
export const MAX_VIEW_NAME = 60;

/** Restores the saved views. Ignores those that are invalid, and all but the first of a name. */
export function restoreSavedViews(
  kept: Readonly<Record<string, unknown>>,
): Pick<ConsoleState, "savedViews" | "startView"> {
  const found = (Array.isArray(kept.views) ? kept.views : []).flatMap(restoreSavedView);
  const names = new Set<string>();
  const first = found.filter(({ name }) => !names.has(name) && names.add(name));
  const savedViews = first.slice(0, MAX_SAVED_VIEWS);
  const startView = savedViews.find(({ name }) => name === kept.startView)?.name;
  return { savedViews, startView };
}

function restoreSavedView(kept: unknown): SavedView[] {
  if (!isStoredRecord(kept) || !isStoredText(kept.name)) return [];
  const tab = TABS.find((id) => id === kept.tab);
  const name = kept.name.trim();
  if (tab === undefined || name === "" || name.length > MAX_VIEW_NAME) return [];
  return [{ name, tab, ...restoreTableChoice(kept) }];
}

/** Returns what is shown now as a view. */
export function captureView({ tab, tabs }: Pick<ConsoleState, "tab" | "tabs">, name: string): SavedView {
  const { filter, order, columns } = tabs[tab];
  return { name, tab, filter, order, columns };
}

/** Saves what is shown under a name. A view of that name is replaced; others keep their place. */
export function saveCurrentView(state: ConsoleState, name: string): ConsoleState {
  const view = captureView(state, name);
  const at = state.savedViews.findIndex((one) => one.name === name);
  const savedViews = at < 0 ? [...state.savedViews, view] : state.savedViews.with(at, view);
  return { ...state, savedViews };
}

export function deleteView(state: ConsoleState, name: string): ConsoleState {
  const savedViews = state.savedViews.filter((view) => view.name !== name);
  return { ...state, savedViews, startView: state.startView === name ? undefined : state.startView };
}

/** Shows a saved view: its tab, filter, order and columns. */
export function openView(state: ConsoleState, { tab, filter, order, columns }: SavedView): ConsoleState {
  const shown = { ...state.tabs[tab], filter, order, columns, cursor: START_CURSOR, anchor: undefined };
  return {
    ...state,
    tab,
    focus: "table",
    zoomed: undefined,
    detail: { top: 0 },
    tabs: { ...state.tabs, [tab]: { ...shown, marks: new Set() } },
  };
}

/** Shows the view to start with, if there is one. */
export function openStartView(state: ConsoleState): ConsoleState {
  const view = state.savedViews.find(({ name }) => name === state.startView);
  return view === undefined ? state : openView(state, view);
}
