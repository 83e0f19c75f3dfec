import { clean } from "../../../base/text.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import { computeTableHeight, listTableNotes } from "../../parts/table-notes.ts";
import type { Size } from "../../state/layout.ts";
import type { RowCell, RowModel } from "../../theme/cells.ts";
import { buildUnknownPage, buildWelcomePage, createPageRow } from "./empty-pages.ts";

/** Columns before a row, for its mark. */
const GUTTER = 2;

/** Builds the table of the active tab: notes, titles and visible rows, or a help text if there are no rows. */
export function buildTableRows(app: ConsoleData, { width, height }: Size): RowModel[] {
  const { theme, state, table } = app;
  const { cursor } = state.tabs[state.tab];
  const notes = buildNotes(app, width);
  if (table.length === 0) return [...notes, ...buildEmptyRows(app, width)];
  const window = { top: cursor.top, height: computeTableHeight(app, height) };
  const { head, rows } = table.buildRows(window, app.getWallTime(), theme.createLook(width - GUTTER));
  return [
    ...notes,
    { cells: [{ text: " ".repeat(GUTTER) }, ...head] },
    ...rows.map((cells, at) => buildTableRow(app, cursor.top + at, cells)),
  ];
}

/** Builds a row with its mark. */
function buildTableRow(
  { theme, state, table }: ConsoleData,
  index: number,
  cells: readonly RowCell[],
): RowModel {
  const { cursor, marks } = state.tabs[state.tab];
  const key = table.getKeyAt(index) ?? "";
  const mark: RowCell = marks.has(key) ? { text: theme.signs.marked, role: "marked" } : { text: " " };
  const selection = state.focus === "table" ? "focused" : "unfocused";
  return {
    ...{ key, cells: [mark, { text: " " }, ...cells] },
    selection: index === cursor.index ? selection : undefined,
  };
}

function buildNotes(app: ConsoleData, width: number): RowModel[] {
  return listTableNotes(app).map(({ text, role }) => {
    const sign = role === "problem" ? app.theme.signs.marks.problem : "/ ";
    return { cells: [{ text: clean(` ${sign}${text}`, width), role }] };
  });
}

/**
 * Builds the text for an empty table, with what to type next. If nothing was read yet, it says that the rows are not
 * known.
 */
function buildEmptyRows(app: ConsoleData, width: number): RowModel[] {
  const { table, state, liveView } = app;
  if (!liveView.hasRead) return buildUnknownPage(app, width);
  const { filter } = state.tabs[state.tab];
  const text =
    filter === ""
      ? table.empty
      : `No row in ${table.id} matches the filter ${filter}. Esc clears the filter.`;
  const rows = text.split(/(?<=\.) /).map((line) => createPageRow(clean(line, width - 2), "quiet"));
  return [...rows, ...buildWelcomePage(app, width)];
}
