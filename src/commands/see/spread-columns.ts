import { type FittedColumn, GAP, type TextColumn } from "./fit-columns.ts";

/** Maximum number of blanks added to a column. More would tear the cells of a row apart. */
const MOST = 4;

/** Spreads columns over a width that they do not need: each but the last gets the same number of further blanks. */
export function spreadColumns<S extends TextColumn>(
  columns: readonly FittedColumn<S>[],
  width: number,
): readonly FittedColumn<S>[] {
  const needed = columns.reduce((sum, column) => sum + column.width + GAP, -GAP);
  const more = Math.min(MOST, Math.floor((width - needed) / Math.max(1, columns.length - 1)));
  if (more <= 0) return columns;
  return columns.map((column, at) =>
    at === columns.length - 1 ? column : { ...column, width: column.width + more },
  );
}
