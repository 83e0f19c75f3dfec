import { settled } from "../state/cursor.ts";
import { type Cursor, type State, TOAST } from "../state/state.ts";
import { tableHeight } from "../table/pane.ts";
import type { App } from "./app.ts";
import { panelRows } from "./panel-rows.ts";

/** The arrangement with every cursor on a row that is there; the same object where all are. */
export function settledState(state: State, app: App): State {
  const layout = app.layout();
  if (layout === undefined) return state;
  const tab = state.tabs[state.tab];
  const height = tableHeight(app, layout.table?.height ?? 1);
  const cursors = {
    table: settled(tab.cursor, app.table, height),
    explorer: settled(state.explorer.cursor, app.tree, (layout.explorer?.height ?? 2) - 1),
    panel: settled(state.panel.cursor, panelRows(app), panelHeight(app, layout.panel?.height ?? 1)),
  };
  const hasMoved = cursors.table.key !== tab.cursor.key;
  const isOver = hasPassed(state.toast, app.wall());
  const isSame =
    same(cursors.table, tab.cursor) &&
    same(cursors.explorer, state.explorer.cursor) &&
    same(cursors.panel, state.panel.cursor);
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

/** Rows of the panel's list in sight: a table has its titles above. */
export function panelHeight(app: App, height: number): number {
  return app.panelTable() === undefined ? height : height - 1;
}

/** A clock that was set back must not keep it for hours. */
function hasPassed(toast: State["toast"], wall: number): boolean {
  return toast !== undefined && (toast.until <= wall || toast.until > wall + TOAST);
}

function same(a: Cursor, b: Cursor): boolean {
  return a.key === b.key && a.index === b.index && a.top === b.top;
}
