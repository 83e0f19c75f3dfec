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

/** Rows in an order; equal ones by their keys, so that they stay where they are from picture to picture. */
export function sorted<R>(
  view: Pick<View<R>, "columns" | "key">,
  rows: readonly R[],
  { column: id, descending }: Order,
): R[] {
  const column = view.columns.find((one) => one.id === id);
  if (column === undefined) return [...rows];
  const keyed = rows.map((row) => ({ row, by: weightOf(column, row), key: view.key(row) }));
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
