import { type ConsoleState, getActiveTab, TOAST_DURATION, updateTab } from "./console-state.ts";
import { type Cursor, clampCursor, type RowList, START_CURSOR } from "./cursor.ts";
import type { Layout } from "./layout.ts";

/** The lists that have a cursor. */
interface CursorLists {
  table: RowList;
  tree: RowList;
  panel: RowList;
  /** The table that the panel shows, if it shows one. */
  panelTable: RowList | undefined;
  /** Rows of the table that are visible. */
  tableHeight: number;
}

/**
 * Returns the state with every cursor on an existing row, without a toast that is over; the same object if nothing changes.
 * @param now  wall clock, ms since the epoch
 */
export function clampCursors(
  state: ConsoleState,
  layout: Layout,
  { table, tree, panel, panelTable, tableHeight }: CursorLists,
  now: number,
): ConsoleState {
  const tab = getActiveTab(state);
  const cursors = {
    table: clampCursor(tab.cursor, table, tableHeight),
    explorer: clampCursor(state.explorer.cursor, tree, (layout.explorer?.height ?? 2) - 1),
    panel: clampCursor(
      // Without the keyboard, the job list shows the newest jobs.
      state.panel.id === "jobs" && state.focus !== "panel" ? START_CURSOR : state.panel.cursor,
      panel,
      computePanelListHeight(panelTable, layout.panel?.height ?? 1),
    ),
  };
  const hasMoved = cursors.table.key !== tab.cursor.key;
  const { toast } = state;
  // A clock that was set back must not keep a toast for hours.
  const isOver =
    toast !== undefined &&
    (toast.until <= now || toast.until > now + TOAST_DURATION || toast.isTrue?.() === false);
  const isSame =
    isSameCursor(cursors.table, tab.cursor) &&
    isSameCursor(cursors.explorer, state.explorer.cursor) &&
    isSameCursor(cursors.panel, state.panel.cursor);
  if (isSame && !isOver) return state;
  return {
    ...updateTab(state, { cursor: cursors.table }),
    explorer: { ...state.explorer, cursor: cursors.explorer },
    panel: { ...state.panel, cursor: cursors.panel },
    detail: hasMoved ? { top: 0 } : state.detail,
    toast: isOver ? undefined : toast,
  };
}

/** Returns the number of visible rows in the panel: a table has a title line above them. */
export function computePanelListHeight(table: RowList | undefined, height: number): number {
  return table === undefined ? height : height - 1;
}

function isSameCursor(a: Cursor, b: Cursor): boolean {
  return a.key === b.key && a.index === b.index && a.top === b.top;
}
