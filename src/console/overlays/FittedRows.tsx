import { padCells, type RowModel, truncateCells } from "../theme/cells.ts";
import { Rows } from "../theme/Rows.tsx";

/** Rows that fill their width, so that nothing beneath them shows through. */
export function FittedRows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  const fitted = rows.map((row) => ({ ...row, cells: padCells(truncateCells(row.cells, width), width) }));
  return <Rows rows={fitted} width={width} />;
}
