import type { ConsoleApp } from "../console-app.ts";
import { updateTab } from "../state/console-state.ts";

export function sortByNextColumn(app: ConsoleApp): void {
  const { columns, order } = app.table;
  const at = columns.findIndex(({ id }) => id === order.column);
  const next = columns[(at + 1) % columns.length];
  if (next !== undefined) sortByColumn(app, next.id);
}

/** Sorts by a column; if the table is already sorted by it, reverses the order. */
export function sortByColumn(app: ConsoleApp, id: string): void {
  const { columns, order } = app.table;
  if (id === order.column) return reverseSort(app);
  setOrder(app, { column: id, descending: false });
  const title = columns.find((column) => column.id === id)?.title ?? id;
  app.showToast(`sorted by ${title.toLowerCase()}`);
}

export function reverseSort(app: ConsoleApp): void {
  const { column, descending } = app.table.order;
  setOrder(app, { column, descending: !descending });
}

function setOrder(app: ConsoleApp, order: { column: string; descending: boolean }): void {
  app.update((state) => updateTab(state, { order }));
}
