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
  const remarks = table.remarks
    .slice(0, 1)
    .map((remark) => theme.style("problem", clean(` ${theme.signs.marks.problem}${remark}`, width)));
  if (table.length === 0) return [...remarks, ...emptyLines(app, width)];
  const { head, rows } = table.lines({ top: cursor.top, height: tableHeight(app, height) }, app.wall(), look);
  const isFocused = state.focus === "table";
  const lines = rows.map((line, at) => {
    const index = cursor.top + at;
    const isMarked = marks.size > 0 && marks.has(table.keyAt(index) ?? "");
    const sign = isMarked ? theme.style("marked", theme.signs.marked) : " ";
    const isSelected = index === cursor.index;
    return theme.row(padTo(`${sign} ${line}`, width), { isSelected, isFocused, width });
  });
  return [...remarks, `  ${head}`, ...lines];
}

/** Rows of the table that there is room for. @param height  lines of the pane */
export function tableHeight({ table }: Pick<App, "table">, height: number): number {
  return Math.max(1, height - 1 - Math.min(1, table.remarks.length));
}

/** Never just "nothing": what to type next. */
function emptyLines({ theme, table, state, sight }: App, width: number): string[] {
  if (sight.standing.kind === "opening") return [` ${theme.style("quiet", "reading…")}`];
  const { filter } = state.tabs[state.tab];
  const text =
    filter === ""
      ? table.empty
      : `Nothing passes the filter ${filter} in ${table.id}. Esc takes the filter away.`;
  return text.split(/(?<=\.) /).map((line) => ` ${theme.style("quiet", clean(line, width - 2))}`);
}
