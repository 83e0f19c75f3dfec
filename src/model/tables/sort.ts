import type { Column, View } from "./view.ts";

/** How rows are ordered: by a column, smallest or largest first. */
export interface Order {
  column: string;
  descending: boolean;
}

/** An order as it is written: a column's id, with `-` before it for the largest first. */
export function parseOrder(text: string): Order {
  return text.startsWith("-")
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** A row with what it is sorted by. */
interface Weighed<R> {
  row: R;
  by: string | number | bigint;
  key: string;
}

/** Rows that were weighed already, by one column: those of the picture before. */
export interface Weights<R> {
  get(row: R): Weighed<R> | undefined;
  set(row: R, weighed: Weighed<R>): unknown;
}

/** Rows in an order; equal ones by their keys, so that they stay where they are from picture to picture. */
export function sorted<R>(
  view: Pick<View<R>, "columns" | "key">,
  rows: readonly R[],
  { column: id, descending }: Order,
  known?: Weights<R>,
): R[] {
  const column = view.columns.find((one) => one.id === id);
  if (column === undefined) return [...rows];
  const keyed = rows.map((row) => {
    const before = known?.get(row);
    if (before !== undefined) return before;
    const weighed = { row, by: weightOf(column, row), key: view.key(row) };
    known?.set(row, weighed);
    return weighed;
  });
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => sign * compare(a.by, b.by) || compare(a.key, b.key));
  return keyed.map(({ row }) => row);
}

function weightOf<R>({ text, order }: Column<R>, row: R): string | number | bigint {
  return order === undefined ? text(row, 0) : order(row);
}

function compare(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
