import type { ConsoleControls } from "../parts/parts.ts";
import { updateTab } from "../state/console-state.ts";

export function sortByNextColumn(app: ConsoleControls): void {
  const { columns, order } = app.table;
  const at = columns.findIndex(({ id }) => id === order.column);
  const next = columns[(at + 1) % columns.length];
  if (next === undefined) return;
  setOrder(app, { column: next.id, descending: false });
  app.showToast(`sorted by ${next.title.toLowerCase()}`);
}

export function reverseSort(app: ConsoleControls): void {
  const { column, descending } = app.table.order;
  setOrder(app, { column, descending: !descending });
}

function setOrder(app: ConsoleControls, order: { column: string; descending: boolean }): void {
  app.update((state) => updateTab(state, state.tab, { order }));
}
