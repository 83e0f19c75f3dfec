import type { DataAccess, StateAccess, TableAccess } from "./parts.ts";

type NoteInputs = DataAccess & StateAccess & TableAccess;

/** Returns the number of visible rows. @param height  lines of the pane */
export function computeTableHeight(app: NoteInputs, height: number): number {
  return Math.max(1, height - computeTitleHeight(app));
}

/** Returns the number of lines above the rows. */
export function computeTitleHeight(app: NoteInputs): number {
  return 1 + listTableNotes(app).length;
}

/**
 * Lists the notes above the table: a remark about all rows, such as a drain, then the active filter and the number of
 * marks.
 */
export function listTableNotes(app: NoteInputs): { text: string; role: "problem" | "match" }[] {
  const { table, state } = app;
  const { filter, marks } = state.tabs[state.tab];
  const [remark] = table.remarks;
  const known = app.getTabCounts()[state.tab];
  const all = known === undefined ? "" : ` of ${known}`;
  const marked = marks.size > 0 ? formatMarked(app) : "";
  const fault = filter === "" ? undefined : table.filterFault;
  if (fault !== undefined) return [{ text: `filter ${filter}: ${fault}`, role: "problem" }];
  const shown = filter === "" ? "" : `filter ${filter}: ${table.length}${all}`;
  const told = [shown, marked].filter((text) => text !== "").join(", ");
  return [
    ...(remark === undefined ? [] : [{ text: remark, role: "problem" as const }]),
    ...(told === "" ? [] : [{ text: told, role: "match" as const }]),
  ];
}

/** Formats the number of marked rows. Actions apply only to marked rows that are in the table. */
function formatMarked(app: NoteInputs): string {
  const { here, elsewhere } = countMarkedRows(app);
  return `${here} marked${elsewhere > 0 ? `, ${elsewhere} more not shown here` : ""}`;
}

/** Counts the marked rows that the table shows, and the marked rows that it does not show. */
function countMarkedRows({ state, table }: StateAccess & TableAccess): {
  here: number;
  elsewhere: number;
} {
  const { marks } = state.tabs[state.tab];
  const here = [...marks].filter((key) => table.findIndex(key, 0) >= 0).length;
  return { here, elsewhere: marks.size - here };
}
