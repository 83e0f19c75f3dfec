import type { DetailLine } from "../../commands/see/detail.ts";
import {
  type ConsoleState,
  type Cursor,
  type Pane,
  START_CURSOR,
  TOAST_DURATION,
} from "../state/console-state.ts";
import { clampCursor, moveCursor, type RowList, scrollBy, scrollCursor } from "../state/cursor.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { computeTableHeight, findTargetLines, getPanelRows, listDetailLines } from "./pane-lines.ts";

/** A list with its cursor, and a function that moves the cursor. */
interface CursorList {
  rows: RowList;
  cursor: Cursor;
  height: number;
  setCursor(state: ConsoleState, cursor: Cursor): ConsoleState;
}

/** Returns the list of a pane, or undefined for a pane of text. */
function findCursorList(app: ConsoleParts, pane: Pane): CursorList | undefined {
  const layout = app.getLayout();
  const { state } = app;
  switch (pane) {
    case "table":
      return {
        rows: app.table,
        cursor: state.tabs[state.tab].cursor,
        height: computeTableHeight(app, layout?.table?.height ?? 1),
        setCursor: (now, cursor) => ({
          ...now,
          detail: { top: 0 },
          tabs: { ...now.tabs, [now.tab]: { ...now.tabs[now.tab], cursor } },
        }),
      };
    case "explorer":
      return {
        rows: app.tree,
        cursor: state.explorer.cursor,
        height: (layout?.explorer?.height ?? 2) - 1,
        setCursor: (now, cursor) => ({ ...now, explorer: { ...now.explorer, cursor } }),
      };
    case "panel": {
      const rows = getPanelRows(app);
      const height = computePanelListHeight(app, layout?.panel?.height ?? 1);
      if (rows.length === 0) return undefined;
      return {
        rows,
        cursor: state.panel.cursor,
        height,
        setCursor: (now, cursor) => ({ ...now, panel: { ...now.panel, cursor } }),
      };
    }
    default:
      return undefined;
  }
}

/** New index of the cursor, by action. */
const STEPS: Readonly<Record<string, (list: CursorList) => number>> = {
  up: ({ cursor }) => cursor.index - 1,
  down: ({ cursor }) => cursor.index + 1,
  top: () => 0,
  bottom: ({ rows }) => rows.length - 1,
  pageUp: ({ cursor, height }) => cursor.index - Math.max(1, height - 1),
  pageDown: ({ cursor, height }) => cursor.index + Math.max(1, height - 1),
};
/** Keys that scroll a text, by action. */
const SCROLLS: Readonly<Record<string, string>> = {
  up: "up",
  down: "down",
  top: "home",
  bottom: "end",
  pageUp: "pageup",
  pageDown: "pagedown",
};

/** Moves the cursor or the text of the focused pane. @param id  up, down, top, bottom, pageUp or pageDown */
export function moveInFocusedPane(app: ConsoleParts, id: string): void {
  const { focus } = app.state;
  const list = findCursorList(app, focus);
  if (list === undefined) return scrollText(app, focus, SCROLLS[id] ?? "");
  const to = STEPS[id]?.(list) ?? list.cursor.index;
  app.update((state) => list.setCursor(state, moveCursor(list.cursor, list.rows, to, list.height)));
}

/** Moves the cursor of a list to an index, if there is such a row. */
export function moveToRow(app: ConsoleParts, pane: Pane, index: number): void {
  const list = findCursorList(app, pane);
  if (list === undefined || index >= list.rows.length) return;
  app.update((state) => list.setCursor(state, moveCursor(list.cursor, list.rows, index, list.height)));
}

/** Scrolls a pane. Its cursor moves only if it would leave the view. */
export function scrollPane(app: ConsoleParts, pane: Pane, by: 3 | -3): void {
  const list = findCursorList(app, pane);
  if (list === undefined) return scrollText(app, pane, by > 0 ? "wheel-down" : "wheel-up");
  app.update((state) => list.setCursor(state, scrollCursor(list.cursor, list.rows, by, list.height)));
}

function scrollText(app: ConsoleParts, pane: Pane, by: string): void {
  const layout = app.getLayout();
  if (pane === "detail" && layout?.detail !== undefined) {
    const detail = moveInDetail(
      app.state.detail,
      listDetailLines(app, layout.detail.width),
      layout.detail.height,
      by,
    );
    app.update((state) => ({ ...state, detail }));
  }
  if (pane === "panel" && layout?.panel !== undefined) {
    const { length } = app.state.panel.id === "log" ? app.log.lines : app.events;
    const top = scrollBy(by, app.state.panel.top, length, layout.panel.height);
    app.update((state) => ({ ...state, panel: { ...state.panel, top } }));
  }
}

type DetailState = ConsoleState["detail"];

/**
 * Moves in the detail: selects the next line with a target if it is visible, otherwise scrolls by one line. So the
 * same keys read all lines and reach every target.
 * @param height  number of visible lines
 * @param by      up, down, or a key that scrolls
 */
function moveInDetail(
  { top, row }: DetailState,
  lines: readonly DetailLine[],
  height: number,
  by: string,
): DetailState {
  const scrolled = scrollBy(by, top, lines.length, height);
  if (by !== "down" && by !== "up") return { top: scrolled };
  const targets = findTargetLines(lines);
  const next = findNextRow(targets, row, by, top);
  const line = next === undefined ? undefined : targets[next];
  const getLastLine = (first: number) => first + height - (first + height < lines.length ? 2 : 1);
  if (line !== undefined && line >= top && line <= getLastLine(top)) return { top, row: next };
  if (line !== undefined && line >= scrolled && line <= getLastLine(scrolled))
    return { top: scrolled, row: next };
  const here = row === undefined ? undefined : targets[row];
  const isInSight = here !== undefined && here >= scrolled && here <= getLastLine(scrolled);
  return { top: scrolled, row: isInSight && by === "down" ? row : undefined };
}

/**
 * Returns the target before or after the selected one. Without a selection, returns the first one below the top, or
 * the last one above it.
 */
function findNextRow(
  targets: readonly number[],
  row: number | undefined,
  by: "up" | "down",
  top: number,
): number | undefined {
  const to =
    row !== undefined
      ? row + (by === "down" ? 1 : -1)
      : by === "down"
        ? targets.findIndex((line) => line >= top)
        : targets.findLastIndex((line) => line < top);
  return to >= 0 && to < targets.length ? to : undefined;
}

/** Returns the state with every cursor on an existing row; the same object if nothing changes. */
export function clampCursors(state: ConsoleState, app: ConsoleParts): ConsoleState {
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
function computePanelListHeight(app: ConsoleParts, height: number): number {
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
