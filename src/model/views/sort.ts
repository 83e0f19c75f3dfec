import type { TableColumn, TableView } from "./view.ts";

/** A sort order: by a column, ascending or descending. */
export interface SortOrder {
  column: string;
  descending: boolean;
}

/** Parses a sort order: a column id, with the prefix `-` for descending. */
export function parseSortOrder(text: string): SortOrder {
  return text.startsWith("-")
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** A row with its sort value. */
interface WeightedRow<R> {
  row: R;
  by: string | number | bigint;
  key: string;
}

/** A cache for the sort values of one column, for rows of the previous snapshot. */
export interface SortCache<R> {
  get(row: R): WeightedRow<R> | undefined;
  set(row: R, weighed: WeightedRow<R>): unknown;
}

/** Sorts rows. Equal rows are sorted by key, so their order stays the same between snapshots. */
export function sortViewRows<R>(
  view: Pick<TableView<R>, "columns" | "getKey">,
  rows: readonly R[],
  { column: id, descending }: SortOrder,
  known?: SortCache<R>,
): R[] {
  const column = view.columns.find((one) => one.id === id);
  if (column === undefined) return [...rows];
  const keyed = rows.map((row) => {
    const before = known?.get(row);
    if (before !== undefined) return before;
    const weighed = { row, by: getSortValue(column, row), key: view.getKey(row) };
    known?.set(row, weighed);
    return weighed;
  });
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => sign * compare(a.by, b.by) || compare(a.key, b.key));
  return keyed.map(({ row }) => row);
}

function getSortValue<R>({ formatCell, getSortValue }: TableColumn<R>, row: R): string | number | bigint {
  return getSortValue === undefined ? formatCell(row, 0) : getSortValue(row);
}

function compare(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
