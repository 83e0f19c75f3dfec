import {
  buildGridColumn,
  buildHeadSpans,
  buildRowSpans,
  COLUMN_GAP,
  CORE_PRIORITY,
  type FittedColumn,
  fitColumns,
  type GridColumn,
  ON_DEMAND,
  shortenColumn,
  spreadColumns,
} from "../../cli/commands/see/grid.ts";
import { type ComputeRows, createRowCache } from "../../cli/commands/see/ls/row-cache.ts";
import type { OutputStyle, TextSpan } from "../../cli/commands/see/paint.ts";
import { NO_FILTER, parseRowFilter, type RowFilter } from "../../cli/views/filter.ts";
import { type EtcdViewId, TABLE_VIEWS, type ViewId } from "../../cli/views/index.ts";
import { createMacrosView } from "../../cli/views/macros.ts";
import { parseSortOrder, SortedRows, type SortOrder } from "../../cli/views/sort.ts";
import type { AnyView, TableColumn } from "../../cli/views/view.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import { collectTexts } from "../../core/base/text.ts";
import { countThings, type Snapshot } from "../../site/state/snapshot.ts";
import type { Subject } from "../../site/state/subject.ts";
import { getTabView, type TabId, type TabState } from "../state/console-state.ts";
import type { RowList } from "../state/cursor.ts";

/** Filter and order of a table. */
export interface TableOptions {
  filter: string;
  order: SortOrder | undefined;
  /** Ids of the chosen columns, in order; undefined for those of the view. */
  columns?: readonly string[] | undefined;
  /** Id of the column of the selected cell, in a table whose cells are objects; undefined: the second such column. */
  cell?: string | undefined;
}

/** Rows from outside the snapshot, and the text to show if there are none. */
export interface OutsideRows {
  rows: readonly object[];
  empty: string;
}

/** Number of rows, or of objects in a snapshot, that counts as large: 5,000 locks with their runs need 10 MB. */
const LARGE_ROW_COUNT = 5_000;

const buildMacrosView = memoizeWeakly((snapshot: Snapshot) => createMacrosView(snapshot) as AnyView<object>);

type TableLook = OutputStyle & { width: number };

/** The titles of a table's columns, and the cells of its rows. */
interface TableRows {
  head: readonly TextSpan[];
  rows: readonly (readonly TextSpan[])[];
}

/** A view over successive snapshots. */
export class ConsoleTable implements RowList {
  readonly id: ViewId | EtcdViewId;
  #view: AnyView<object>;
  /** The largest width of each column so far, so that columns do not move while data changes or the user scrolls. */
  readonly #widths = new Map<string, number>();
  /** Identifies the view, filter, order and columns for which the widths were computed. */
  #shown = "";
  /** Whether cells use their short form, because the main columns would be too wide. Stays set, like the widths. */
  #isBrief = false;
  #wanted: { id: string; width: number } | undefined;
  #options: TableOptions = { filter: "", order: undefined };
  #filter: RowFilter = NO_FILTER;
  #computeRows: ComputeRows<object>;
  #source: readonly object[] | undefined;
  #outside: readonly object[] | undefined;
  /** The columns of the last frame, and those that had values. */
  #placed: readonly PlacedColumn[] = [];
  #filled: ReadonlySet<string> = new Set();
  #sorted: SortedRows<object>;
  #rows: readonly object[] = [];
  #sizeOfSnapshot = 0;
  /** Sentences about all rows. */
  remarks: readonly string[] = [];

  constructor(id: ConsoleTable["id"]) {
    this.id = id;
    this.#view = TABLE_VIEWS[id];
    this.#computeRows = this.#createKeptRows();
    this.#sorted = new SortedRows(this.#view, this.order);
  }

  /** The text to show if there are no rows. */
  get empty(): string {
    return this.#view.empty;
  }
  /** Where else rows may be that a filter does not find. */
  get elsewhere(): string | undefined {
    return this.#view.elsewhere;
  }
  get columns(): readonly TableColumn<object>[] {
    return this.#view.columns;
  }
  get length(): number {
    return this.#rows.length;
  }
  /** Why the active filter cannot be used. */
  get filterFault(): string | undefined {
    return this.#filter.fault;
  }
  /** Why a filter cannot be used in this table. */
  checkFilter(text: string): string | undefined {
    return parseRowFilter(text, this.#view).fault;
  }
  /** The active order. */
  get order(): SortOrder {
    return this.#options.order ?? parseSortOrder(this.#view.sort);
  }

  /** Width at which no cell shown so far is cut; undefined before the first rows. */
  get wantedWidth(): number | undefined {
    return this.#wanted?.width;
  }

  /** Computes the rows from a snapshot. Cheap if nothing has changed. @param outside  rows that are in no snapshot */
  update(snapshot: Snapshot, wall: WallTime, options: TableOptions, outside?: OutsideRows): void {
    const isOther = options.filter !== this.#options.filter;
    const isOrdered = options.order === this.#options.order;
    this.#options = options;
    this.#sizeOfSnapshot = countThings(snapshot);
    if (isOther) this.#computeRows = this.#createKeptRows();
    this.#adaptView(snapshot);
    if (outside !== undefined) this.#setRows(outside);
    // A part of the queues is complete in itself, but tells nothing about other objects.
    else if (this.#view.of === "snapshot" && snapshot.revision === 0n) return this.forgetRows();
    const { rows, viewContext } = this.#computeRows(snapshot, wall);
    this.remarks = this.#view.listRemarks?.(viewContext) ?? [];
    if (rows === this.#source && isOrdered) return;
    this.#source = rows;
    if (!isOrdered) this.#sorted = new SortedRows(this.#view, this.order);
    this.#rows = this.#sorted.sort(rows);
  }

  #setRows({ rows, empty }: OutsideRows): void {
    if (this.#outside === rows && this.empty === empty) return;
    this.#outside = rows;
    this.#view = { ...this.#view, of: "snapshot", empty, buildRows: () => rows };
    this.forgetRows();
  }

  /** Adds to the macros a column for each resource of hosts. */
  #adaptView(snapshot: Snapshot): void {
    if (this.id !== "macros") return;
    const view = buildMacrosView(snapshot);
    if (String(view.columns.map(({ id }) => id)) === String(this.columns.map(({ id }) => id))) return;
    this.#view = view;
    this.forgetRows();
  }

  /** Whether its rows, or the snapshot that they keep in memory, need many megabytes. */
  get isLarge(): boolean {
    return Math.max(this.length, this.#sizeOfSnapshot) > LARGE_ROW_COUNT;
  }

  /** Releases the rows and the snapshot until the next update. Keeps the widths. */
  forgetRows(): void {
    this.#computeRows = this.#createKeptRows();
    this.#sorted = new SortedRows(this.#view, this.order);
    this.#source = undefined;
    this.#rows = [];
  }

  getKeyAt(index: number): string | undefined {
    const row = this.#rows[index];
    return row && this.#view.getKey(row);
  }

  findIndex(key: string, near: number): number {
    if (this.getKeyAt(near) === key) return near;
    return this.#rows.findIndex((row) => this.#view.getKey(row) === key);
  }

  /** Returns the object of the selected cell of a row, or else of the row. */
  getSubjectAt(index: number): Subject | undefined {
    const row = this.#rows[index];
    const column = this.columns.find(({ id }) => id === this.cell);
    return row && (column?.getCellSubject?.(row) ?? this.#view.getSubject(row));
  }

  /** The columns whose cells are objects of their own, by id. */
  get cells(): readonly string[] {
    const columns = chooseColumns(this.columns, this.#options.columns);
    return columns.flatMap(({ id, getCellSubject }) => (getCellSubject === undefined ? [] : [id]));
  }

  /** The column of the selected cell; undefined in a table without such columns. */
  get cell(): string | undefined {
    const { cells } = this;
    return cells.find((id) => id === this.#options.cell) ?? cells[1] ?? cells[0];
  }

  /** Says in one line what the selected cell of a row shows. */
  describeCell(index: number): TableNote | undefined {
    const row = this.#rows[index];
    const column = this.columns.find(({ id }) => id === this.cell);
    const line = row && column?.describeCell?.(row);
    return line && { text: line.text, role: line.tone };
  }

  /** Where the selected cell was painted, from the left edge of the row. */
  get cellPlace(): PlacedColumn | undefined {
    return this.#placed.find(({ id }) => id === this.cell);
  }

  /** Gives the columns near the selected cell room before those that are further away. */
  #favourCell(columns: readonly TableColumn<object>[]): readonly TableColumn<object>[] {
    const at = columns.findIndex(({ id }) => id === this.cell);
    if (at < 0) return columns;
    return columns.map((column, index) =>
      column.getCellSubject === undefined || index === 0
        ? column
        : { ...column, priority: 1 + Math.abs(index - at) / 100 },
    );
  }

  findSubject(key: string): Subject | undefined {
    return this.getSubjectAt(this.findIndex(key, 0));
  }

  /** Returns the row as JSON output. */
  getJsonAt(index: number): object | undefined {
    const row = this.#rows[index];
    return row && this.#view.json.toJson(row);
  }

  /** Returns all columns of a row with their titles; empty ones are left out. */
  getFactsAt(index: number, wall: WallTime): { label: string; value: string }[] {
    const row = this.#rows[index];
    if (row === undefined) return [];
    return this.columns.flatMap(({ title, formatCell, formatAsciiCell }) => {
      const value = formatAsciiCell === undefined ? formatCell(row, wall) : ""; // a drawing has no value
      return value.trim() === "" ? [] : [{ label: title.toLowerCase(), value }];
    });
  }

  /** @param window  index of the first row, and number of rows */
  buildRows(window: { top: number; height: number }, wall: WallTime, look: TableLook): TableRows {
    const rows = this.#rows.slice(window.top, window.top + window.height);
    const strips = this.#buildStrips(rows, wall, look);
    this.#wantWidth(strips);
    this.#isBrief ||=
      computeWholeWidth(strips.filter(({ priority }) => priority <= CORE_PRIORITY)) > look.width;
    const fitted = fitColumns(this.#isBrief ? strips.map(shortenColumn) : strips, look.width, false);
    for (const { column, width } of fitted) this.#widths.set(column.id, width);
    const shown = spreadColumns(fitted, look.width);
    this.#placed = placeTableColumns(shown);
    this.#filled = new Set(strips.map(({ column }) => column.id));
    return { head: buildHeadSpans(shown, look), rows: rows.map((_, at) => buildRowSpans(shown, at, look)) };
  }

  /** Returns an id for the combination of filter, order and columns. */
  #getId(): string {
    const { filter, columns } = this.#options;
    return JSON.stringify([filter, this.order, columns]);
  }

  /** Stores the width at which no cell is cut. It only grows, so that the table does not move. */
  #wantWidth(strips: readonly GridColumn<object>[]): void {
    const width = computeWholeWidth(strips);
    const id = this.#getId();
    const before = this.#wanted?.id === id ? this.#wanted.width : 0;
    this.#wanted = { id, width: Math.max(before, width) };
  }

  /** Returns the column whose title was painted at a position of the title line. */
  findColumnAt(at: number): string | undefined {
    return findPlacedColumn(this.#placed, at);
  }

  /** Lists the ids of all columns, those shown by default first. */
  listDefaultColumns(): string[] {
    return listColumnIds(this.columns, undefined);
  }

  /** Lists all columns of the view: first those that are on, in their order. @param chosen  ids of the chosen ones */
  listColumnChoices(chosen = this.#options.columns): ColumnChoice[] {
    const on = chooseColumns(this.columns, chosen).map(({ id }) => id);
    return listColumnIds(this.columns, chosen).map((id) => {
      const title = this.columns.find((column) => column.id === id)?.title ?? id;
      const isOn = on.includes(id);
      return { id, title, isOn, state: isOn ? this.#getColumnState(id) : "off" };
    });
  }

  #getColumnState(id: string): ColumnState {
    if (this.#placed.some((column) => column.id === id)) return "shown";
    return this.#filled.has(id) ? "too narrow" : "no values";
  }

  /** Columns that have shown a value once stay visible and do not get narrower while the user looks at them. */
  #buildStrips(rows: readonly object[], wall: WallTime, look: TableLook): GridColumn<object>[] {
    const shown = `${look.width} ${this.#getId()}`;
    if (shown !== this.#shown) {
      this.#widths.clear();
      this.#isBrief = false;
    }
    this.#shown = shown;
    return this.#favourCell(chooseColumns(this.columns, this.#options.columns)).flatMap((column) => {
      const strip = buildGridColumn(column, rows, wall, look);
      const least = this.#widths.get(column.id);
      if (least === undefined && strip.texts.every((text) => text.trim() === "")) return [];
      return [{ ...strip, title: strip.title + this.#formatOrderMark(column.id, look), least }];
    });
  }

  #formatOrderMark(column: string, { marks }: OutputStyle): string {
    if (column !== this.order.column) return "";
    const [up, down] = marks?.problem === "! " ? ["^", "v"] : ["▲", "▼"];
    return ` ${this.order.descending ? down : up}`;
  }

  #createKeptRows(): ComputeRows<object> {
    this.#filter = parseRowFilter(this.#options.filter, this.#view);
    const limit = Number.POSITIVE_INFINITY;
    const options = { filter: this.#filter, order: undefined, columns: undefined, limit, all: true };
    return createRowCache(this.#view, options);
  }
}

/** Returns the width at which no cell of some columns is cut. */
function computeWholeWidth(strips: readonly GridColumn<object>[]): number {
  return fitColumns(strips, undefined, false).reduce(
    (sum, { width }) => sum + width + COLUMN_GAP,
    -COLUMN_GAP,
  );
}

/** Whether a column is on the screen, or why it is not. */
type ColumnState = "shown" | "too narrow" | "no values" | "off";

/** A column of a table, for choosing. */
export interface ColumnChoice {
  id: string;
  title: string;
  isOn: boolean;
  state: ColumnState;
}

/** The place where a column was painted, from the left edge of the titles. */
interface PlacedColumn {
  id: string;
  left: number;
  width: number;
}

/** Returns where fitted columns are painted. */
export function placeTableColumns(
  columns: readonly FittedColumn<{ column: { id: string } }>[],
): PlacedColumn[] {
  let left = 0;
  return columns.map(({ column: { id }, width }) => {
    const placed = { id, left, width };
    left += width + COLUMN_GAP;
    return placed;
  });
}

/** Returns the column whose title is at a position. The gap after a column belongs to it. */
export function findPlacedColumn(placed: readonly PlacedColumn[], at: number): string | undefined {
  return placed.find(({ left, width }) => at >= left && at < left + width + COLUMN_GAP)?.id;
}

/**
 * Returns the columns of a view that the user has chosen, in their order. The first is the most important one: columns
 * that do not fit are left out from the end.
 * @param chosen  ids, perhaps of another version; undefined for those of the view
 */
export function chooseColumns<R>(
  columns: readonly TableColumn<R>[],
  chosen: readonly string[] | undefined,
): readonly TableColumn<R>[] {
  const known = chosen?.flatMap((id) => columns.find((column) => column.id === id) ?? []) ?? [];
  if (known.length === 0) return columns.filter(({ priority }) => priority < ON_DEMAND);
  return known.map((column, at) => ({ ...column, priority: at + 1 }));
}

/** Lists the ids of all columns: first the chosen ones in their order, then the others. */
export function listColumnIds<R>(
  columns: readonly TableColumn<R>[],
  chosen: readonly string[] | undefined,
): string[] {
  const on = chooseColumns(columns, chosen).map(({ id }) => id);
  return [...on, ...columns.flatMap(({ id }) => (on.includes(id) ? [] : [id]))];
}

/**
 * The tables of one place, which shows one of them at a time. Each is created on first use. A large one releases its rows
 * when it is hidden.
 */
export class ShownTable {
  readonly #known = new Map<TabId, ConsoleTable>();
  #shown: ConsoleTable | undefined;

  show(id: TabId): ConsoleTable {
    const table = this.#known.get(id) ?? new ConsoleTable(getTabView(id));
    this.#known.set(id, table);
    if (table !== this.#shown) this.hide();
    this.#shown = table;
    return table;
  }

  hide(): void {
    if (this.#shown?.isLarge) this.#shown.forgetRows();
    this.#shown = undefined;
  }
}

/** A line above a table. */
interface TableNote {
  text: string;
  role: "problem" | "match" | "plain";
}

/**
 * Lists the notes above the table: a remark about all rows, such as a drain, then the active filter and the number of
 * marks.
 * @param all  number of rows without the filter, if it is known
 */
export function listTableNotes(
  table: ConsoleTable,
  { filter, marks, cursor }: TabState,
  all: number | undefined,
): TableNote[] {
  const fault = filter === "" ? undefined : table.filterFault;
  if (fault !== undefined) return [{ text: `filter ${filter}: ${fault}`, role: "problem" }];
  const total = all === undefined ? "" : ` of ${all}`;
  const texts = collectTexts([
    filter !== "" && `filter ${filter}: ${table.length}${total}`,
    marks.size > 0 && formatMarked(table, marks),
  ]);
  const cell = table.describeCell(cursor.index);
  return [
    ...table.remarks.slice(0, 1).map((text) => ({ text, role: "problem" as const })),
    ...(texts.length === 0 ? [] : [{ text: texts.join(", "), role: "match" as const }]),
    ...(cell === undefined ? [] : [cell]),
  ];
}

/** Formats the number of marked rows. Actions apply only to marked rows that are in the table. */
function formatMarked(table: ConsoleTable, marks: ReadonlySet<string>): string {
  const inTable = [...marks].filter((key) => table.findIndex(key, 0) >= 0).length;
  const elsewhere = marks.size - inTable;
  return `${inTable} marked${elsewhere > 0 ? `, ${elsewhere} more not shown here` : ""}`;
}
