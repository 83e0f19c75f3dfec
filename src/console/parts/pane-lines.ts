import { buildDetailLines, type DetailLine } from "../../commands/see/detail.ts";
import type { DetailTarget } from "../../views/detail.ts";
import { NOT_READ_YET } from "../data/live-view.ts";
import type { RowList } from "../state/cursor.ts";
import type { ConsoleParts } from "./console-parts.ts";

/** Sum of the margins at the left and the right of the text, columns. */
const MARGIN = 2;

/** Lists all lines of the detail, each with its target. @param width  of the pane */
export function listDetailLines(app: ConsoleParts, width: number): DetailLine[] {
  return buildLines(app, width, true);
}

function buildLines(app: ConsoleParts, width: number, isDense: boolean): DetailLine[] {
  const detail = app.getDetail();
  const empty = app.liveView.hasRead ? "nothing is selected" : NOT_READ_YET;
  if (detail === undefined) return [{ spans: [{ text: empty, role: "quiet" }] }];
  return buildDetailLines(detail, app.theme.createLook(width - MARGIN), isDense);
}

/** Returns the lines of the detail as text, a fact on each. @param width  of the lines */
export function formatDetailText(app: ConsoleParts, width: number): string[] {
  return buildLines(app, width + MARGIN, false).map(({ spans }) => spans.map(({ text }) => text).join(""));
}

/** Returns the indexes of the lines that have a target. */
export function findTargetLines(lines: readonly DetailLine[]): number[] {
  return lines.flatMap(({ target }, at) =>
    target !== undefined && lines[at - 1]?.target !== target ? [at] : [],
  );
}

/** Returns the target selected in the detail, if the detail has the keyboard. */
export function findSelectedTarget(app: ConsoleParts): DetailTarget | undefined {
  const width = app.getLayout()?.detail?.width;
  if (app.state.focus !== "detail" || width === undefined) return undefined;
  const lines = listDetailLines(app, width);
  return lines[findSelectedLine(app, lines) ?? -1]?.target;
}

/** Returns the index of the selected line, if the detail has the keyboard. */
export function findSelectedLine(
  { state: { focus, detail } }: ConsoleParts,
  lines: readonly DetailLine[],
): number | undefined {
  return focus !== "detail" || detail.row === undefined ? undefined : findTargetLines(lines)[detail.row];
}

/** Returns the number of visible rows. @param height  lines of the pane */
export function computeTableHeight(app: ConsoleParts, height: number): number {
  return Math.max(1, height - computeTitleHeight(app));
}

/** Returns the number of lines above the rows. */
export function computeTitleHeight(app: ConsoleParts): number {
  return 1 + listTableNotes(app).length;
}

/**
 * Lists the notes above the table: a remark about all rows, such as a drain, then the active filter and the number of
 * marks.
 */
export function listTableNotes(app: ConsoleParts): { text: string; role: "problem" | "match" }[] {
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
function formatMarked(app: ConsoleParts): string {
  const { here, elsewhere } = countMarkedRows(app);
  return `${here} marked${elsewhere > 0 ? `, ${elsewhere} more not shown here` : ""}`;
}

/** Counts the marked rows that the table shows, and the marked rows that it does not show. */
function countMarkedRows({ state, table }: ConsoleParts): {
  here: number;
  elsewhere: number;
} {
  const { marks } = state.tabs[state.tab];
  const here = [...marks].filter((key) => table.findIndex(key, 0) >= 0).length;
  return { here, elsewhere: marks.size - here };
}

/** Counts the lines of the panel: one that says so if it has none, and one more for the titles of a table. */
export function countPanelLines(app: ConsoleParts): number {
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

/** Returns the rows of the panel that a cursor can select. A view of text has none. */
export function getPanelRows(app: ConsoleParts): RowList {
  const table = app.getPanelTable();
  if (table !== undefined) return table;
  const jobs = app.state.panel.id === "jobs" ? app.jobs.list : [];
  return {
    length: jobs.length,
    getKeyAt: (index) => jobs[index] && String(jobs[index].id),
    findIndex: (key) => jobs.findIndex(({ id }) => String(id) === key),
  };
}
