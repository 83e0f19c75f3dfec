import { type ConsoleState, PANELS, type Pane, TABS, type TabId } from "../state/console-state.ts";
import { listPanes } from "../state/layout.ts";
import { rememberPlace } from "../state/places.ts";
import type { LayoutAccess, StateAccess, StateUpdates } from "./parts.ts";

/** Gives the keyboard to a pane, and shows it if it is hidden. */
export function focusOn(app: StateUpdates, focus: Pane): void {
  app.update((state) => ({
    ...state,
    focus,
    zoomed: state.zoomed === undefined ? undefined : focus,
    ...(focus === "explorer" && { explorer: { ...state.explorer, isOpen: true } }),
    ...(focus === "panel" && { panel: { ...state.panel, isOpen: true } }),
  }));
}

/** Returns a check whether the row that is selected now is still selected. Used for messages about it. */
export function createSameRowCheck(app: StateAccess): () => boolean {
  const { tab, tabs } = app.state;
  const { key } = tabs[tab].cursor;
  return () => app.state.tab === tab && app.state.tabs[tab].cursor.key === key;
}

/** Gives the keyboard to the next or the previous pane. */
export function focusNext(app: LayoutAccess & StateUpdates, by: 1 | -1): void {
  const layout = app.getLayout();
  if (layout === undefined || app.state.zoomed !== undefined) return;
  const panes = listPanes(layout);
  const at = panes.indexOf(app.state.focus);
  const next = panes[(at + by + panes.length) % panes.length];
  if (next !== undefined) focusOn(app, next);
}

/** Switches to the next tab; in the panel, to its next view. */
export function switchTab(app: StateUpdates, by: 1 | -1): void {
  app.update((state) =>
    state.focus === "panel" ? switchPanel(state, by) : openTab(state, findNeighbour(TABS, state.tab, by)),
  );
}

/** Opens a tab. This is a jump: the place before it is remembered. */
export function openTab(state: ConsoleState, tab: TabId): ConsoleState {
  return {
    ...rememberPlace(state),
    tab,
    detail: { top: 0 },
    focus: state.focus === "explorer" ? "explorer" : "table",
  };
}

/** Selects a row of a tab, and clears a filter that could hide it. */
export function goTo(app: StateUpdates, tab: TabId, key: string | undefined): void {
  app.update((state) => {
    const before = state.tabs[tab];
    const cursor = key === undefined ? before.cursor : { ...before.cursor, key };
    const own = { ...before, cursor, filter: key === undefined ? before.filter : "" };
    return { ...openTab(state, tab), tabs: { ...state.tabs, [tab]: own }, focus: "table" };
  });
}

function switchPanel(state: ConsoleState, by: 1 | -1): ConsoleState {
  return { ...state, panel: { ...state.panel, id: findNeighbour(PANELS, state.panel.id, by), top: 0 } };
}

function findNeighbour<T>(list: readonly T[], of: T, by: 1 | -1): T {
  return list[(list.indexOf(of) + by + list.length) % list.length] ?? of;
}
