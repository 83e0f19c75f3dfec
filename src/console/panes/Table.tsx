import { cleanToWidth } from "../../base/display-width.ts";
import type { Subject } from "../../state/subject.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { computeTableHeight, listTableNotes } from "../parts/pane-lines.ts";
import type { Size } from "../state/layout.ts";
import { getWatchId } from "../state/watched-rows.ts";
import type { RowCell, RowModel, RowSelection } from "../theme/cells.ts";
import { Row, Rows, useTheme } from "../theme/Row.tsx";
import type { StyleRole } from "../theme/roles.ts";
import type { Signs } from "../theme/signs.ts";
import { PaneBox } from "./boxes.tsx";
import { buildUnknownPage, buildWelcomePage, createPageRow } from "./empty-pages.ts";

/** The rows of the active view, below the titles of their columns. */
export function Table({ model }: { model: TableModel }) {
  return (
    <PaneBox size={model}>
      <Rows rows={model.notes} width={model.width} />
      {model.head && <Row cells={[{ text: "  " }, ...model.head]} width={model.width} />}
      {model.rows.map((row) => (
        <TableRow key={row.key} row={row} width={model.width} />
      ))}
    </PaneBox>
  );
}

/** A row with its mark. */
function TableRow({
  row: { cells, isMarked, isWatched, selection },
  width,
}: {
  row: TableRowModel;
  width: number;
}) {
  const { signs } = useTheme();
  const mark = isMarked ? ({ text: signs.marked, role: "marked" } as const) : { text: " " };
  const watch = isWatched ? ({ text: signs.watched, role: "match" } as const) : { text: " " };
  return <Row cells={[mark, watch, ...cells]} selection={selection} width={width} />;
}

/** The visible part of a table. */
export interface TableModel extends Size {
  /** Rows above the titles; without rows of the table, what to do. */
  notes: readonly RowModel[];
  /** The titles of the columns; undefined if there are no rows. */
  head: readonly RowCell[] | undefined;
  rows: readonly TableRowModel[];
}

interface TableRowModel {
  key: string;
  cells: readonly RowCell[];
  isMarked: boolean;
  /** Whether the user is told of its changes. */
  isWatched?: boolean;
  selection: RowSelection | undefined;
}

/** Columns before a row, for its mark. */
export const TABLE_GUTTER = 2;

/** Room for columns on a slow line: the others would take a second of it. */
const SLOW_ROOM = 72;

/** Builds the table of the active tab: notes, titles and visible rows, or a help text if there are no rows. */
export function buildTableModel(app: ConsoleParts, size: Size): TableModel {
  const { theme, state, table } = app;
  const { cursor, marks, columns } = state.tabs[state.tab];
  const notes = buildNotes(app, size.width);
  if (table.length === 0)
    return { ...size, notes: [...notes, ...buildEmptyRows(app, size.width)], head: undefined, rows: [] };
  const look = theme.createLook(size.width - TABLE_GUTTER);
  const isLean = app.isLineSlow && columns === undefined; // chosen columns are wanted
  const shown = table.buildRows(
    { top: cursor.top, height: computeTableHeight(app, size.height) },
    app.getShownTime(),
    isLean ? { ...look, room: Math.min(SLOW_ROOM, look.width) } : look,
  );
  const selection = state.focus === "table" ? "focused" : "unfocused";
  const watched = new Set(state.watched.map(getWatchId));
  const isWatched = (subject: Subject | undefined) => {
    if (watched.size === 0 || subject === undefined || subject.kind === "record") return false;
    return watched.has(getWatchId(subject));
  };
  const rows = shown.rows.map((cells, at) => {
    const index = cursor.top + at;
    const key = table.getKeyAt(index) ?? "";
    return {
      key,
      cells: quietenCells(cells, theme.signs),
      isMarked: marks.has(key),
      isWatched: isWatched(table.getSubjectAt(index)),
      selection: index === cursor.index ? selection : undefined,
    } as const;
  });
  return { ...size, notes, head: shown.head, rows };
}

function buildNotes(app: ConsoleParts, width: number): RowModel[] {
  return listTableNotes(app).map(({ text, role }) => {
    const sign = role === "problem" ? app.theme.signs.marks.problem : "/ ";
    return { cells: [{ text: cleanToWidth(` ${sign}${text}`, width), role }] };
  });
}

/**
 * Builds the text for an empty table, with what to type next. If nothing was read yet, it says that the rows are not
 * known.
 */
function buildEmptyRows(app: ConsoleParts, width: number): RowModel[] {
  const { table, state, liveView } = app;
  if (!liveView.hasRead) return buildUnknownPage(app, width);
  const { filter } = state.tabs[state.tab];
  if (table.filterFault !== undefined)
    return [createPageRow("The filter is wrong. / changes it, Esc clears it.", "quiet")];
  const text =
    filter === ""
      ? table.empty
      : `No row in ${table.id} matches the filter ${filter}. Esc clears the filter.`;
  const rows = text.split(/(?<=\.) /).map((line) => createPageRow(cleanToWidth(line, width - 2), "quiet"));
  return [...rows, ...buildWelcomePage(app, width)];
}

/** States that have a mark, by their roles. */
const STATES = ["held", "free", "waiting", "problem"] as const;
/** What stands for a cell without a text. */
const NOTHING = "-";

/**
 * Makes what is normal quiet, so that the rest stands out. A held row keeps the colour of its mark only, a free row is
 * dim, a row that waits or has a problem has its name in that colour. Cells without a text stay empty.
 */
export function quietenCells(cells: readonly RowCell[], { marks }: Pick<Signs, "marks">): RowCell[] {
  const shown = cells.map(blankNothing);
  const at = shown.findIndex(({ text, role }) =>
    STATES.some((own) => own === role && text.startsWith(marks[own])),
  );
  const state = shown[at];
  switch (state?.role) {
    case "held":
      return shown.flatMap((cell, index) => (index === at ? splitMark(cell, marks.held) : [cell]));
    case "free":
      return shown.map((cell) => (isPlain(cell.role) ? { ...cell, role: "quiet" } : cell));
    case "waiting":
    case "problem":
      return shown.map((cell, index) =>
        index === 0 && isPlain(cell.role) ? { ...cell, role: state.role } : cell,
      );
    default:
      return shown;
  }
}

function isPlain(role: StyleRole | undefined): boolean {
  return role === undefined || role === "plain";
}

function blankNothing(cell: RowCell): RowCell {
  return cell.role === "quiet" && cell.text.trim() === NOTHING
    ? { text: " ".repeat(cell.text.length) }
    : cell;
}

function splitMark({ text, role }: RowCell, mark: string): RowCell[] {
  return [
    { text: mark, role },
    { text: text.slice(mark.length), role: "plain" },
  ];
}
