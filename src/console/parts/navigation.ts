import { cleanToWidth } from "../../core/base/display-width.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { TablePane } from "../data/table-pane.ts";
import {
  type ConsoleState,
  PANELS,
  type Pane,
  type Place,
  type PlaceHistory,
  swapTables,
  TABS,
  type TabId,
  toggleSplit,
  updateTab,
} from "../state/console-state.ts";
import { START_CURSOR } from "../state/cursor.ts";
import { listPanes } from "../state/layout.ts";

/** Focuses a pane, and shows it if it is hidden. */
export function focusOn(app: ConsoleApp, focus: Pane): void {
  app.update((state) => setFocus(state, focus));
}

function setFocus(state: ConsoleState, focus: Pane): ConsoleState {
  const { zoomed } = state;
  const shown = { ...state, focus, zoomed: zoomed && focus };
  if (focus !== "explorer" && focus !== "panel") return shown;
  return { ...shown, [focus]: { ...state[focus], isOpen: true } };
}

/** Makes a table the active one. */
export function activate(app: ConsoleApp, pane: TablePane): void {
  if (pane !== app.tablePane) app.update(swapTables);
}

/** Does something to a table, which then is as active as before. */
export function actInPane(app: ConsoleApp, pane: TablePane, act: () => void): void {
  const before = app.tablePane;
  activate(app, pane);
  act();
  activate(app, before);
}

/** Shows the jobs in the panel, the newest first. */
export function showJobs(app: ConsoleApp): void {
  app.update((state) => ({
    ...state,
    panel: { ...state.panel, id: "jobs", isOpen: true, cursor: START_CURSOR },
  }));
}

/** Creates a check whether the row that is selected now is still selected, for messages about the row. */
export function createSameRowCheck(app: ConsoleApp): () => boolean {
  const { tab } = app.state;
  const { key } = app.tabState.cursor;
  return () => app.state.tab === tab && app.tabState.cursor.key === key;
}

/** Shows why an action does not apply to the selected row, as long as the row is selected. */
export function refuseForRow(app: ConsoleApp, text: string): void {
  app.showToast(text, "problem", createSameRowCheck(app));
}

/** Focuses the next or previous pane. */
export function focusNext(app: ConsoleApp, by: 1 | -1): void {
  const layout = app.getLayout();
  if (layout === undefined || app.state.zoomed !== undefined) return;
  const panes = listPanes(layout, app.state.split?.isRight);
  const at = panes.indexOf(app.state.focus);
  const next = panes[(at + by + panes.length) % panes.length];
  if (next === "beside") app.update((state) => ({ ...swapTables(state), focus: "table" }));
  else if (next !== undefined) focusOn(app, next);
}

/** Focuses the table; if it has the focus, the other one. */
export function focusTable(app: ConsoleApp): void {
  const isOther = app.state.focus === "table" && app.getLayout()?.beside !== undefined;
  if (isOther) app.update(swapTables);
  else focusOn(app, "table");
}

/** Shows a second table beside the first one, or hides the one that is not active. */
export function splitTables(app: ConsoleApp): void {
  app.update(toggleSplit);
  if (app.state.split === undefined || app.getLayout()?.beside !== undefined) return;
  app.update((state) => toggleSplit(swapTables(state)));
  app.showToast("there is no room for a second table", "problem");
}

/** Switches to the next tab; in the panel, to its next view. */
export function switchTab(app: ConsoleApp, by: 1 | -1): void {
  app.update(({ panel, ...state }) =>
    state.focus === "panel"
      ? { ...state, panel: { ...panel, id: findNeighbour(PANELS, panel.id, by), top: 0 } }
      : openTab({ ...state, panel }, findNeighbour(TABS, state.tab, by)),
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
export function goTo(app: ConsoleApp, tab: TabId, key: string | undefined): void {
  app.update((state) => {
    const before = state.tabs[tab];
    const cursor = key === undefined ? before.cursor : { ...before.cursor, key };
    const filter = key === undefined ? before.filter : "";
    return { ...updateTab(openTab(state, tab), { cursor, filter }), focus: "table" };
  });
}

/** Selects a row of a tab and runs an action on it alone, without waiting for a frame. */
export function actOnRow(app: ConsoleApp, tab: TabId, key: string, action: string): void {
  goTo(app, tab, key);
  app.refreshDerivedState(); // the tab may not have been shown
  if (app.table.getKeyAt(app.tabState.cursor.index) !== key)
    return refuseForRow(app, `${cleanToWidth(key, 40)} has no row in this table`);
  app.update((state) => updateTab(state, { marks: new Set(), anchor: undefined }));
  app.act(action);
}

function findNeighbour<T>(list: readonly T[], of: T, by: 1 | -1): T {
  return list[(list.indexOf(of) + by + list.length) % list.length] ?? of;
}

/** Maximum number of places in each direction. */
const MOST_PLACES = 50;

/** Adds the current place to the history before a jump. Later places are no longer reachable, as in an editor. */
export function rememberPlace(state: ConsoleState): ConsoleState {
  const place = getPlace(state);
  const { past } = state.places;
  return { ...state, places: { past: addPlace(past, place), future: [] } };
}

/** Goes back or forward in the history of places. If the row of a place is gone, goes to its tab and says so. */
export function goToPlace(app: ConsoleApp, by: 1 | -1): void {
  const before = app.state;
  app.update((state) => stepThroughPlaces(state, by));
  if (app.state === before) return app.showToast(by < 0 ? "no earlier place" : "no later place");
  const { key } = app.tabState.cursor;
  app.refreshDerivedState(); // if the row is gone, selects another one in its place
  if (key === undefined || app.table.getKeyAt(app.tabState.cursor.index) === key) return;
  app.showToast(`${cleanToWidth(key, 40)} is gone`, "quiet", createSameRowCheck(app));
}

/** Goes one place back or forward. Returns the same state if there is none in that direction. */
export function stepThroughPlaces(state: ConsoleState, by: 1 | -1): ConsoleState {
  const { past, future } = dropCurrent(state, by);
  const place = (by < 0 ? past : future).at(-1);
  if (place === undefined) return state;
  const current = getPlace(state);
  const places =
    by < 0
      ? { past: past.slice(0, -1), future: addPlace(future, current) }
      : { past: addPlace(past, current), future: future.slice(0, -1) };
  return { ...restorePlace(state, place), places };
}

/** Drops the places that are the current one: going back from a jump to the same place must not need a second key. */
function dropCurrent(state: ConsoleState, by: 1 | -1): PlaceHistory {
  const current = getPlace(state);
  const { past, future } = state.places;
  const isCurrent = (place: Place | undefined) => place !== undefined && isSameRow(place, current);
  if (by < 0) return { past: isCurrent(past.at(-1)) ? past.slice(0, -1) : past, future };
  return { past, future: isCurrent(future.at(-1)) ? future.slice(0, -1) : future };
}

function getPlace({ tab, tabs, focus, explorer }: ConsoleState): Place {
  const { cursor, filter } = tabs[tab];
  return { tab, key: cursor.key, filter, focus, node: explorer.cursor.key };
}

function restorePlace(state: ConsoleState, { tab, key, filter, focus, node }: Place): ConsoleState {
  const { cursor } = state.tabs[tab];
  const shown = updateTab(
    setFocus(state, focus),
    { filter, cursor: { ...cursor, key: key ?? cursor.key } },
    tab,
  );
  const { explorer } = shown;
  const at = { ...explorer.cursor, key: node ?? explorer.cursor.key };
  return { ...shown, tab, detail: { top: 0 }, explorer: { ...explorer, cursor: at } };
}

function addPlace(places: readonly Place[], place: Place): readonly Place[] {
  const last = places.at(-1);
  const others = last !== undefined && isSameRow(last, place) ? places.slice(0, -1) : places;
  return [...others, place].slice(-MOST_PLACES);
}

function isSameRow(a: Place, b: Place): boolean {
  return a.tab === b.tab && a.key === b.key && a.filter === b.filter && a.focus === b.focus;
}

/**
 * Switches to another context. Everything of the current cluster ends, including its jobs. So if any are running, the
 * user must choose the context again to confirm.
 */
export function chooseListedContext(app: ConsoleApp, name: string | undefined): void {
  const label = name ?? "no context";
  if (name === app.contexts.activeName) return app.showToast(`${label} is shown already`);
  const warning = `running and would be left; choose ${label} again to switch anyway`;
  if (mayLeaveJobs(app, `context ${label}`, warning)) app.ports.switchContext(name);
}

/**
 * Returns whether no job runs, or the user was warned and asks for the same again. Otherwise warns the user.
 * @param asks  the id of the requested action
 * @param warning  the rest of a sentence that begins with the running jobs
 */
export function mayLeaveJobs(app: ConsoleApp, asks: string, warning: string): boolean {
  const [first, ...more] = app.jobs.running;
  if (first === undefined || app.state.toast?.asks === asks) return true;
  const what = more.length === 0 ? `${cleanToWidth(first.title, 24)} is` : `${more.length + 1} jobs are`;
  app.showToast(`${what} ${warning}`, "problem", () => app.jobs.running.length > 0);
  app.update(({ toast, ...state }) => ({ ...state, toast: toast && { ...toast, asks } }));
  return false;
}
