import { clean } from "../../base/text.ts";
import type { App } from "../app.ts";
import { countMarkedRows } from "../state/count-marked.ts";
import type { Size } from "../state/layout.ts";
import { padToWidth } from "../theme/theme.ts";
import { renderUnknownPage, renderWelcomePage } from "./empty-pages.ts";

/** Columns before a row, for its mark. */
const GUTTER = 2;

/** Renders the table of the active tab: notes, titles and visible rows, or a help text if there are no rows. */
export function renderTablePane(app: App, { width, height }: Size): string[] {
  const { theme, state, table } = app;
  const { cursor, marks } = state.tabs[state.tab];
  const look = theme.createLook(width - GUTTER);
  const notes = renderNotes(app, width);
  if (table.length === 0) return [...notes, ...renderEmptyTable(app, width)];
  const { head, rows } = table.renderLines(
    { top: cursor.top, height: computeTableHeight(app, height) },
    app.getWallTime(),
    look,
  );
  const isFocused = state.focus === "table";
  const lines = rows.map((line, at) => {
    const index = cursor.top + at;
    const isMarked = marks.size > 0 && marks.has(table.getKeyAt(index) ?? "");
    const sign = isMarked ? theme.style("marked", theme.signs.marked) : " ";
    const isSelected = index === cursor.index;
    return theme.styleRow(padToWidth(`${sign} ${line}`, width), { isSelected, isFocused, width });
  });
  return [...notes, `  ${head}`, ...lines];
}

/** Returns the number of visible rows. @param height  lines of the pane */
export function computeTableHeight(app: App, height: number): number {
  return Math.max(1, height - computeTitleHeight(app));
}

/** Returns the number of lines above the rows. */
export function computeTitleHeight(app: App): number {
  return 1 + listTableNotes(app).length;
}

/**
 * Lists the notes above the table: a remark about all rows, such as a drain, then the active filter and the number of
 * marks.
 */
function listTableNotes(app: App): { text: string; role: "problem" | "match" }[] {
  const { table, state } = app;
  const { filter, marks } = state.tabs[state.tab];
  const [remark] = table.remarks;
  const known = app.getTabCounts()[state.tab];
  const all = known === undefined ? "" : ` of ${known}`;
  const marked = marks.size > 0 ? formatMarked(app) : "";
  const shown = filter === "" ? "" : `filter ${filter}: ${table.length}${all}`;
  const told = [shown, marked].filter((text) => text !== "").join(", ");
  return [
    ...(remark === undefined ? [] : [{ text: remark, role: "problem" as const }]),
    ...(told === "" ? [] : [{ text: told, role: "match" as const }]),
  ];
}

/** Formats the number of marked rows. Actions apply only to marked rows that are in the table. */
function formatMarked(app: App): string {
  const { here, elsewhere } = countMarkedRows(app);
  return `${here} marked${elsewhere > 0 ? `, ${elsewhere} more not shown here` : ""}`;
}

function renderNotes(app: App, width: number): string[] {
  const { theme } = app;
  return listTableNotes(app).map(({ text, role }) => {
    const sign = role === "problem" ? theme.signs.marks.problem : "/ ";
    return theme.style(role, clean(` ${sign}${text}`, width));
  });
}

/**
 * Renders the text for an empty table, with what to type next. If nothing was read yet, says that the rows are not
 * known.
 */
function renderEmptyTable(app: App, width: number): string[] {
  const { theme, table, state, liveView } = app;
  if (!liveView.hasRead) return renderUnknownPage(app, width);
  const { filter } = state.tabs[state.tab];
  const text =
    filter === ""
      ? table.empty
      : `Nothing passes the filter ${filter} in ${table.id}. Esc takes the filter away.`;
  const lines = text.split(/(?<=\.) /).map((line) => ` ${theme.style("quiet", clean(line, width - 2))}`);
  return [...lines, ...renderWelcomePage(app, width)];
}
