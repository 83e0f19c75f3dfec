import { Rows } from "../panes/Rows.tsx";
import { padCells, type RowModel, truncateCells } from "../theme/cells.ts";

/** Rows that fill their width, so that nothing beneath them shows through. */
export function FittedRows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  const fitted = rows.map((row) => ({ ...row, cells: padCells(truncateCells(row.cells, width), width) }));
  return <Rows rows={fitted} width={width} />;
}
