import type { App } from "../app.ts";

/** Counts marked rows: those in the table, and those that it does not show. */
export function countMarkedRows(app: App): { here: number; elsewhere: number } {
  const { marks } = app.state.tabs[app.state.tab];
  const here = [...marks].filter((key) => app.table.findIndex(key, 0) >= 0).length;
  return { here, elsewhere: marks.size - here };
}
