import type { DetailLine } from "../../cli/commands/see/detail.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { PicturePart } from "../data/overview-picture.ts";
import { type ConsoleState, getCursor, type Pane, setCursor, updateTab } from "../state/console-state.ts";
import { type Cursor, moveCursor, type RowList, scrollBy, scrollCursor, stepBy } from "../state/cursor.ts";
import { findTargetLines, listDetailLines } from "./pane-lines.ts";

/** Returns the list of a pane, or undefined for a pane of text. */
function findList(app: ConsoleApp, pane: Pane) {
  if (pane === "detail") return undefined;
  const list = app.getLists()[pane];
  return pane === "panel" && list.rows.length === 0 ? undefined : { ...list, pane };
}

type VisibleList = NonNullable<ReturnType<typeof findList>>;

function changeCursor(
  app: ConsoleApp,
  { pane, rows, height }: VisibleList,
  change: (cursor: Cursor, rows: RowList, height: number) => Cursor,
): void {
  app.update((state) => setCursor(state, pane, change(getCursor(state, pane), rows, height)));
}

/** Moves between the parts of the overview's picture, and between it and the table below. @returns false if it does not move there */
export function moveInPicture(app: ConsoleApp, id: string): boolean {
  const { overview, picturePart: from, pictureHeight, tabState } = app.tablePane;
  if (pictureHeight === 0) return false;
  if (from === undefined && (id !== "up" || tabState.cursor.index > 0)) return false;
  const isStep = id === "up" || id === "down" || id === "left" || id === "right";
  const part = isStep ? overview.findNext(from, id) : undefined;
  if (part === undefined && (id === "left" || id === "right")) return false;
  selectPicturePart(app, part);
  return isStep;
}

/** @param part  undefined: the table below */
export function selectPicturePart(app: ConsoleApp, part: PicturePart | undefined): void {
  if (app.state.tab !== "overview" || part?.id === app.tabState.cell) return;
  app.update((state) => ({ ...updateTab(state, { cell: part?.id }), detail: { top: 0 } }));
}

/** Moves the cursor or the text of the focused pane. @param id  up, down, top, bottom, pageUp or pageDown */
export function moveInFocusedPane(app: ConsoleApp, id: string): void {
  const { focus } = app.state;
  if (focus === "table" && moveInPicture(app, id)) return;
  const list = findList(app, focus);
  if (list === undefined) return scrollText(app, focus, id);
  const size = { page: Math.max(1, list.height - 1), wheel: 0 };
  changeCursor(app, list, (cursor, rows, height) =>
    moveCursor(cursor, rows, stepBy(id, cursor.index, rows.length - 1, size), height),
  );
}

/** Moves the cursor of a list to an index, if there is such a row. */
export function moveToRow(app: ConsoleApp, pane: Pane, index: number): void {
  const list = findList(app, pane);
  if (list === undefined || index >= list.rows.length) return;
  changeCursor(app, list, (cursor, rows, height) => moveCursor(cursor, rows, index, height));
}

/** Scrolls a pane. Its cursor moves only if it would leave the view. */
export function scrollPane(app: ConsoleApp, pane: Pane, by: 3 | -3): void {
  const list = findList(app, pane);
  if (list === undefined) return scrollText(app, pane, by > 0 ? "wheel-down" : "wheel-up");
  changeCursor(app, list, (cursor, rows, height) => scrollCursor(cursor, rows, by, height));
}

function scrollText(app: ConsoleApp, pane: Pane, by: string): void {
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
  const selected = row === undefined ? undefined : targets[row];
  const isInSight = selected !== undefined && selected >= scrolled && selected <= getLastLine(scrolled);
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
