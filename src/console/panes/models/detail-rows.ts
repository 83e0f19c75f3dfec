import { findSelectedLine, listDetailLines } from "../../parts/detail-lines.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import type { Size } from "../../state/layout.ts";
import { createRow, type RowModel } from "../../theme/cells.ts";

/** Builds the detail of the selected subject at its scroll position. The last row says how many lines follow. */
export function buildDetailRows(app: ConsoleData, { width, height }: Size): RowModel[] {
  const lines = listDetailLines(app, width);
  const top = Math.max(0, Math.min(app.state.detail.top, lines.length - height));
  const selected = findSelectedLine(app, lines);
  const rows = lines.slice(top, top + height).map(
    ({ spans }, at): RowModel => ({
      cells: [{ text: " " }, ...spans],
      selection: top + at === selected ? "focused" : undefined,
    }),
  );
  const left = lines.length - top - height;
  if (left <= 0) return rows;
  return [...rows.slice(0, -1), createRow(` ${app.theme.signs.ellipsis} ${left + 1} more lines`, "quiet")];
}
