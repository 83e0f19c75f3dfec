import type { RowList } from "../state/cursor.ts";
import type { ConsoleData } from "./parts.ts";

/** Returns the rows of the panel that a cursor can select. A view of text has none. */
export function getPanelRows(app: ConsoleData): RowList {
  const table = app.getPanelTable();
  if (table !== undefined) return table;
  const jobs = app.state.panel.id === "jobs" ? app.jobs.list : [];
  return {
    length: jobs.length,
    getKeyAt: (index) => jobs[index] && String(jobs[index].id),
    findIndex: (key) => jobs.findIndex(({ id }) => String(id) === key),
  };
}
