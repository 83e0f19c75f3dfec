import { computeDisplayWidth } from "../../base/display-width.ts";
import { computeCellsWidth, type RowCell } from "../theme/cells.ts";
import type { TextField } from "./field.ts";
import { findBoundaryFrom, splitGraphemes } from "./graphemes.ts";

/** Builds a field: as much of it as fits, with the cursor in view. @param width  columns */
export function buildFieldCells(field: TextField, width: number, isActive = true): RowCell[] {
  const { before, at, after } = computeFieldWindow(field, width);
  const under = at === "" ? " " : at;
  const cells: RowCell[] = [
    { text: before, role: "field" },
    isActive ? { text: under, role: "cursor", ground: "field" } : { text: under, role: "field" },
    { text: after, role: "field" },
  ];
  const rest = Math.max(0, width - computeCellsWidth(cells));
  return [...cells, { text: " ".repeat(rest), role: "field" }];
}

/** The visible part of a field. */
interface FieldWindow {
  before: string;
  /** The text under the cursor: a grapheme, or a space at the end. */
  at: string;
  after: string;
}

/** Share of the width kept for the text after the cursor, so that the user sees what follows. */
const AHEAD = 0.25;

/**
 * Computes the part of a field that fits, with the cursor in it.
 * @param width  columns, at least 2; the maximum of all three parts together
 */
export function computeFieldWindow({ text, cursor }: TextField, width: number): FieldWindow {
  const behind = findBoundaryFrom(text, cursor + 1);
  const at = text.slice(cursor, behind) || " ";
  const room = Math.max(0, width - computeDisplayWidth(at));
  const [left, right] = [text.slice(0, cursor), text.slice(behind)];
  const kept = Math.min(computeDisplayWidth(right), Math.floor(room * AHEAD));
  const before = takeFitting(splitGraphemes(left).reverse(), room - kept)
    .reverse()
    .join("");
  const after = takeFitting(splitGraphemes(right), room - computeDisplayWidth(before)).join("");
  return { before, at, after };
}

/** Returns the first letters that fit. */
function takeFitting(letters: readonly string[], width: number): string[] {
  const shown: string[] = [];
  let taken = 0;
  for (const letter of letters) {
    taken += computeDisplayWidth(letter);
    if (taken > width) break;
    shown.push(letter);
  }
  return shown;
}
