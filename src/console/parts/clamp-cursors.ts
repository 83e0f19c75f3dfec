import { type ConsoleState, type Cursor, START_CURSOR, TOAST_DURATION } from "../state/console-state.ts";
import { clampCursor } from "../state/cursor.ts";
import { getPanelRows } from "./panel-rows.ts";
import type { ClockAccess, CursorAccess, TableAccess } from "./parts.ts";
import { computeTableHeight } from "./table-notes.ts";

/** Returns the state with every cursor on an existing row; the same object if nothing changes. */
export function clampCursors(state: ConsoleState, app: ClockAccess & CursorAccess): ConsoleState {
  const layout = app.getLayout();
  if (layout === undefined) return state;
  const tab = state.tabs[state.tab];
  const height = computeTableHeight(app, layout.table?.height ?? 1);
  const cursors = {
    table: clampCursor(tab.cursor, app.table, height),
    explorer: clampCursor(state.explorer.cursor, app.tree, (layout.explorer?.height ?? 2) - 1),
    panel: clampCursor(
      getPanelCursor(state),
      getPanelRows(app),
      computePanelListHeight(app, layout.panel?.height ?? 1),
    ),
  };
  const hasMoved = cursors.table.key !== tab.cursor.key;
  const isOver = hasExpired(state.toast, app.getPresentTime());
  const isSame =
    isSameCursor(cursors.table, tab.cursor) &&
    isSameCursor(cursors.explorer, state.explorer.cursor) &&
    isSameCursor(cursors.panel, state.panel.cursor);
  if (isSame && !isOver) return state;
  return {
    ...state,
    tabs: { ...state.tabs, [state.tab]: { ...tab, cursor: cursors.table } },
    explorer: { ...state.explorer, cursor: cursors.explorer },
    panel: { ...state.panel, cursor: cursors.panel },
    detail: hasMoved ? { top: 0 } : state.detail,
    toast: isOver ? undefined : state.toast,
  };
}

/** Returns the panel's cursor. Without the keyboard, the job list shows the newest jobs. */
function getPanelCursor({ panel, focus }: ConsoleState): Cursor {
  return panel.id === "jobs" && focus !== "panel" ? START_CURSOR : panel.cursor;
}

/** Returns the number of visible rows in the panel: a table has a title line above them. */
export function computePanelListHeight(app: TableAccess, height: number): number {
  return app.getPanelTable() === undefined ? height : height - 1;
}

/**
 * Whether a toast must disappear: its time is over, or its message no longer holds. A clock that was set back must
 * not keep it for hours.
 */
function hasExpired(toast: ConsoleState["toast"], wall: number): boolean {
  if (toast === undefined) return false;
  return toast.until <= wall || toast.until > wall + TOAST_DURATION || toast.isTrue?.() === false;
}

function isSameCursor(a: Cursor, b: Cursor): boolean {
  return a.key === b.key && a.index === b.index && a.top === b.top;
}
