import type { RowList } from "../state/cursor.ts";
import type { JobAccess, LogAccess, StateAccess, TableAccess } from "./parts.ts";

/** Counts the lines of the panel: one that says so if it has none, and one more for the titles of a table. */
export function countPanelLines(app: JobAccess & LogAccess & StateAccess & TableAccess): number {
  switch (app.state.panel.id) {
    case "events":
      return Math.max(1, app.events.length);
    case "jobs":
      return Math.max(1, app.jobs.list.length);
    case "log":
      return Math.max(1, app.log.lines.length);
    case "problems":
    case "audit":
      return 1 + (app.getPanelTable()?.length ?? 0);
  }
}

type PanelRowsParts = JobAccess & StateAccess & TableAccess;

/** Returns the rows of the panel that a cursor can select. A view of text has none. */
export function getPanelRows(app: PanelRowsParts): RowList {
  const table = app.getPanelTable();
  if (table !== undefined) return table;
  const jobs = app.state.panel.id === "jobs" ? app.jobs.list : [];
  return {
    length: jobs.length,
    getKeyAt: (index) => jobs[index] && String(jobs[index].id),
    findIndex: (key) => jobs.findIndex(({ id }) => String(id) === key),
  };
}
