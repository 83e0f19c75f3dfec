import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import type { StyleRole } from "./roles.ts";

/** A piece of a row: clean text, and the role that it is styled by. Without a role it is left as it is. */
export interface RowCell {
  text: string;
  role?: StyleRole | undefined;
  /** The role of the text around it, which continues beneath its own. */
  ground?: StyleRole | undefined;
}

/** One row of the screen. */
export interface RowModel {
  cells: readonly RowCell[];
  /** Whether the cursor is on it, and whether its pane has the keyboard. */
  selection?: RowSelection | undefined;
}

export type RowSelection = "focused" | "unfocused";

/** Builds a row of one text. */
export function createRow(text: string, role?: StyleRole): RowModel {
  return { cells: [{ text, role }] };
}

/** Puts the bar of a selected row into its first column. A marked row has its mark there instead. */
export function addAccent(
  cells: readonly RowCell[],
  selection: RowSelection,
  sign: string,
): readonly RowCell[] {
  const [cell, ...others] = cells;
  if (cell === undefined || !cell.text.startsWith(" ")) return cells;
  const bar: RowCell = { text: sign, role: selection === "focused" ? "accent" : "border" };
  return [bar, { ...cell, text: cell.text.slice(1) }, ...others];
}

/** Returns the text of cells. */
export function joinCellTexts(cells: readonly RowCell[]): string {
  return cells.map(({ text }) => text).join("");
}

export function computeCellsWidth(cells: readonly RowCell[]): number {
  return cells.reduce((sum, { text }) => sum + computeDisplayWidth(text), 0);
}

/** Pads cells with blanks. */
export function padCells(cells: readonly RowCell[], width: number): readonly RowCell[] {
  const missing = width - computeCellsWidth(cells);
  return missing > 0 ? [...cells, { text: " ".repeat(missing) }] : cells;
}

/** Cuts cells to a number of columns. */
export function truncateCells(cells: readonly RowCell[], width: number): readonly RowCell[] {
  if (computeCellsWidth(cells) <= width) return cells;
  const kept: RowCell[] = [];
  let room = width;
  for (const cell of cells) {
    const own = computeDisplayWidth(cell.text);
    if (own >= room)
      return [...kept, { ...cell, text: cleanToWidth(`${cell.text}${" ".repeat(room)}`, room) }];
    kept.push(cell);
    room -= own;
  }
  return kept;
}

/** Pads a text with blanks. */
export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - computeDisplayWidth(text)));
}
