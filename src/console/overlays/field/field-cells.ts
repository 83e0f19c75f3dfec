import { computeCellsWidth, type RowCell } from "../../theme/cells.ts";
import type { TextField } from "./field.ts";
import { computeFieldWindow } from "./field-window.ts";

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
