import { clean } from "../../base/text.ts";
import type { App } from "../app/app.ts";
import type { Size } from "../frame/layout.ts";
import { padTo } from "../theme/theme.ts";

/** Columns before a row: its mark. */
const GUTTER = 2;

/** The table of the active tab: titles, rows in sight, and what there is to say where there are none. */
export function tablePane(app: App, { width, height }: Size): string[] {
  const { theme, state, table } = app;
  const { cursor, marks } = state.tabs[state.tab];
  const look = theme.look(width - GUTTER);
  const notes = noteLines(app, width);
  if (table.length === 0) return [...notes, ...emptyLines(app, width)];
  const { head, rows } = table.lines({ top: cursor.top, height: tableHeight(app, height) }, app.wall(), look);
  const isFocused = state.focus === "table";
  const lines = rows.map((line, at) => {
    const index = cursor.top + at;
    const isMarked = marks.size > 0 && marks.has(table.keyAt(index) ?? "");
    const sign = isMarked ? theme.style("marked", theme.signs.marked) : " ";
    const isSelected = index === cursor.index;
    return theme.row(padTo(`${sign} ${line}`, width), { isSelected, isFocused, width });
  });
  return [...notes, `  ${head}`, ...lines];
}

/** Rows of the table that there is room for. @param height  lines of the pane */
export function tableHeight(app: App, height: number): number {
  return Math.max(1, height - titleHeight(app));
}

/** Lines above the rows. */
export function titleHeight(app: App): number {
  return 1 + notesOf(app).length;
}

/** What matters to all rows: a drain that is wider than they are, and that not all are shown. */
function notesOf(app: App): { text: string; role: "problem" | "match" }[] {
  const { table, state } = app;
  const { filter, marks } = state.tabs[state.tab];
  const [remark] = table.remarks;
  const known = app.counts()[state.tab];
  const all = known === undefined ? "" : ` of ${known}`;
  const marked = marks.size > 0 ? `, ${marks.size} marked` : "";
  return [
    ...(remark === undefined ? [] : [{ text: remark, role: "problem" as const }]),
    ...(filter === ""
      ? []
      : [{ text: `filter ${filter}: ${table.length}${all}${marked}`, role: "match" as const }]),
  ];
}

function noteLines(app: App, width: number): string[] {
  const { theme } = app;
  return notesOf(app).map(({ text, role }) => {
    const sign = role === "problem" ? theme.signs.marks.problem : "/ ";
    return theme.style(role, clean(` ${sign}${text}`, width));
  });
}

/** Never just "nothing": what to type next. */
function emptyLines({ theme, table, state, sight }: App, width: number): string[] {
  if (sight.standing.kind === "opening")
    return [` ${theme.style("quiet", `reading${theme.signs.ellipsis}`)}`];
  const { filter } = state.tabs[state.tab];
  const text =
    filter === ""
      ? table.empty
      : `Nothing passes the filter ${filter} in ${table.id}. Esc takes the filter away.`;
  return text.split(/(?<=\.) /).map((line) => ` ${theme.style("quiet", clean(line, width - 2))}`);
}
