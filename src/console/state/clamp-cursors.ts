import { type ConsoleState, type Pane, TOAST_DURATION, updateTab } from "./console-state.ts";
import { type Cursor, clampCursor, type RowList, START_CURSOR } from "./cursor.ts";

/** The panes that are lists with a cursor. */
type ListPane = Exclude<Pane, "detail">;

/** The rows of these panes, and the numbers of visible ones. */
export type CursorLists = Readonly<Record<ListPane, { rows: RowList; height: number }>>;

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

/**
 * Returns the state with every cursor on an existing row, and without an expired toast; the same object if nothing
 * changes.
 * @param now  wall clock, ms since the epoch
 */
export function clampCursors(state: ConsoleState, lists: CursorLists, now: number): ConsoleState {
  const { panel, focus, toast } = state;
  // Without the focus, the job list shows the newest jobs.
  const isNewest = panel.id === "jobs" && focus !== "panel";
  const clamp = (before: ConsoleState, pane: ListPane) => {
    const cursor = isNewest && pane === "panel" ? START_CURSOR : getCursor(before, pane);
    return setCursor(before, pane, clampCursor(cursor, lists[pane].rows, lists[pane].height));
  };
  const clamped = (["table", "explorer", "panel"] as const).reduce(clamp, state);
  // A clock that was set back must not keep a toast for hours.
  const isOver =
    toast !== undefined &&
    (toast.until <= now || toast.until > now + TOAST_DURATION || toast.isTrue?.() === false);
  return isOver ? { ...clamped, toast: undefined } : clamped;
}
