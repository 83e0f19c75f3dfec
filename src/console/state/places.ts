import type { ConsoleState, Place, PlaceHistory } from "./console-state.ts";

/** Maximum number of places in each direction. */
const MOST = 50;

/** Adds the present place to the history before a jump. What was ahead is no longer reachable, as in an editor. */
export function rememberPlace(state: ConsoleState): ConsoleState {
  const place = getPlace(state);
  const { past } = state.places;
  return { ...state, places: { past: addPlace(past, place), future: [] } };
}

/** Goes one place back or forward. Returns the same state if there is none in that direction. */
export function stepThroughPlaces(state: ConsoleState, by: 1 | -1): ConsoleState {
  const { past, future } = dropPresent(state, by);
  const place = (by < 0 ? past : future).at(-1);
  if (place === undefined) return state;
  const here = getPlace(state);
  const places =
    by < 0
      ? { past: past.slice(0, -1), future: addPlace(future, here) }
      : { past: addPlace(past, here), future: future.slice(0, -1) };
  return { ...restorePlace(state, place), places };
}

/** A jump that led to where the user was already must not need a second key. */
function dropPresent(state: ConsoleState, by: 1 | -1): PlaceHistory {
  const here = getPlace(state);
  const { past, future } = state.places;
  const isHere = (place: Place | undefined) => place !== undefined && isSameRow(place, here);
  if (by < 0) return { past: isHere(past.at(-1)) ? past.slice(0, -1) : past, future };
  return { past, future: isHere(future.at(-1)) ? future.slice(0, -1) : future };
}

function getPlace({ tab, tabs, focus, explorer }: ConsoleState): Place {
  const { cursor, filter } = tabs[tab];
  return { tab, key: cursor.key, filter, focus, node: explorer.cursor.key };
}

function restorePlace(state: ConsoleState, { tab, key, filter, focus, node }: Place): ConsoleState {
  const before = state.tabs[tab];
  const { explorer, panel } = state;
  return {
    ...state,
    tab,
    focus,
    detail: { top: 0 },
    zoomed: state.zoomed === undefined ? undefined : focus,
    tabs: {
      ...state.tabs,
      [tab]: { ...before, filter, cursor: { ...before.cursor, key: key ?? before.cursor.key } },
    },
    explorer: {
      ...explorer,
      isOpen: explorer.isOpen || focus === "explorer",
      cursor: { ...explorer.cursor, key: node ?? explorer.cursor.key },
    },
    panel: { ...panel, isOpen: panel.isOpen || focus === "panel" },
  };
}

function addPlace(places: readonly Place[], place: Place): readonly Place[] {
  const last = places.at(-1);
  const others = last !== undefined && isSameRow(last, place) ? places.slice(0, -1) : places;
  return [...others, place].slice(-MOST);
}

function isSameRow(a: Place, b: Place): boolean {
  return a.tab === b.tab && a.key === b.key && a.filter === b.filter && a.focus === b.focus;
}
