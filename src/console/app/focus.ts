import { panesOf } from "../frame/layout.ts";
import { PANELS, type Pane, type State, TABS, type TabId } from "../state/state.ts";
import type { App } from "./app.ts";

/** Gives the keyboard to a pane. One that is not on the screen comes to it. */
export function focusOn(app: App, focus: Pane): void {
  app.update((state) => ({
    ...state,
    focus,
    zoomed: state.zoomed === undefined ? undefined : focus,
    ...(focus === "explorer" && { explorer: { ...state.explorer, isOpen: true } }),
    ...(focus === "panel" && { panel: { ...state.panel, isOpen: true } }),
  }));
}

/** The pane after the one that has the keyboard, or before it. */
export function focusNext(app: App, by: 1 | -1): void {
  const layout = app.layout();
  if (layout === undefined || app.state.zoomed !== undefined) return;
  const panes = panesOf(layout);
  const at = panes.indexOf(app.state.focus);
  const next = panes[(at + by + panes.length) % panes.length];
  if (next !== undefined) focusOn(app, next);
}

/** The next tab; in the panel, what it shows next. */
export function nextTab(app: App, by: 1 | -1): void {
  app.update((state) =>
    state.focus === "panel" ? withPanel(state, by) : openTab(state, neighbour(TABS, state.tab, by)),
  );
}

export function openTab(state: State, tab: TabId): State {
  return { ...state, tab, detail: { top: 0 }, focus: state.focus === "explorer" ? "explorer" : "table" };
}

/** Shows a row of a tab, whatever stands in its filter. */
export function goTo(app: App, tab: TabId, key: string | undefined): void {
  app.update((state) => {
    const before = state.tabs[tab];
    const cursor = key === undefined ? before.cursor : { ...before.cursor, key };
    const own = { ...before, cursor, filter: key === undefined ? before.filter : "" };
    return { ...openTab(state, tab), tabs: { ...state.tabs, [tab]: own }, focus: "table" };
  });
}

function withPanel(state: State, by: 1 | -1): State {
  return { ...state, panel: { ...state.panel, id: neighbour(PANELS, state.panel.id, by), top: 0 } };
}

function neighbour<T>(list: readonly T[], of: T, by: 1 | -1): T {
  return list[(list.indexOf(of) + by + list.length) % list.length] ?? of;
}
