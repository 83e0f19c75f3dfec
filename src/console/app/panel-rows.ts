import type { Rows } from "../state/cursor.ts";
import type { App } from "./app.ts";

/** The rows of the panel that a cursor can stand on; those that are only read have none. */
export function panelRows(app: App): Rows {
  const table = app.panelTable();
  if (table !== undefined) return table;
  const jobs = app.state.panel.id === "jobs" ? app.jobs.list : [];
  return {
    length: jobs.length,
    keyAt: (index) => jobs[index] && String(jobs[index].id),
    indexOf: (key) => jobs.findIndex(({ id }) => String(id) === key),
  };
}
