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
export interface WeightedRow<R> {
  row: R;
  by: string | number | bigint;
  key: string;
}

/** What is needed of a view to sort its rows. */
export type SortedView<R> = Pick<TableView<R>, "columns" | "getKey">;

/** Sorts rows. Equal rows are sorted by key, so their order stays the same between snapshots. */
export function sortViewRows<R>(view: SortedView<R>, rows: readonly R[], order: SortOrder): R[] {
  const weigh = createWeigher(view, order);
  if (weigh === undefined) return [...rows];
  return rows
    .map(weigh)
    .sort(createRowComparator(order))
    .map(({ row }) => row);
}

/** Returns a function that computes the sort value of a row; undefined if the view has no such column. */
export function createWeigher<R>(
  view: SortedView<R>,
  { column: id }: SortOrder,
): ((row: R) => WeightedRow<R>) | undefined {
  const column = view.columns.find((one) => one.id === id);
  return column && ((row) => ({ row, by: getSortValue(column, row), key: view.getKey(row) }));
}

export function createRowComparator({ descending }: SortOrder) {
  const sign = descending ? -1 : 1;
  return <R>(a: WeightedRow<R>, b: WeightedRow<R>): number =>
    sign * compare(a.by, b.by) || compare(a.key, b.key);
}

function getSortValue<R>({ formatCell, getSortValue }: TableColumn<R>, row: R): string | number | bigint {
  return getSortValue === undefined ? formatCell(row, 0) : getSortValue(row);
}

function compare(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
