import { fitColumns } from "../../commands/see/fit-columns.ts";
import {
  buildGridColumn,
  buildHeadSpans,
  buildRowSpans,
  type GridColumn,
  ON_DEMAND,
} from "../../commands/see/grid.ts";
import { RowCache } from "../../commands/see/ls/row-cache.ts";
import type { OutputStyle, TextSpan } from "../../commands/see/paint.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { VIEWS, type ViewId } from "../../model/tables/index.ts";
import { parseRowFilter } from "../../model/views/filter.ts";
import { parseSortOrder, type SortCache, type SortOrder, sortViewRows } from "../../model/views/sort.ts";
import type { AnyView, Subject, TableColumn } from "../../model/views/view.ts";
import type { RowList } from "../state/cursor.ts";
import { ColumnWidths } from "./column-widths.ts";

/** Filter and order of a table. */
export interface TableOptions {
  filter: string;
  order: SortOrder | undefined;
}

/** The titles of a table's columns, and the cells of its rows. */
export interface TableRows {
  head: readonly TextSpan[];
  rows: readonly (readonly TextSpan[])[];
}

/** A view over successive snapshots, without the type of its rows. */
export interface ConsoleTable extends RowList {
  readonly id: ViewId;
  readonly brief: string;
  /** What to do when there are no rows. */
  readonly empty: string;
  readonly columns: readonly { id: string; title: string }[];
  /** The active order. */
  readonly order: SortOrder;
  /** Sentences that concern all rows. */
  readonly remarks: readonly string[];
  /** Computes the rows from a snapshot. Cheap if nothing has changed. */
  update(snapshot: Snapshot, wall: number, options: TableOptions): void;
  getSubjectAt(index: number): Subject | undefined;
  findSubject(key: string): Subject | undefined;
  /** The row as JSON output. */
  getJsonAt(index: number): object | undefined;
  /** All columns of a row with their titles; empty ones are left out. */
  getFactsAt(index: number, wall: number): { label: string; value: string }[];
  /** @param window  index of the first row, and number of rows */
  buildRows(
    window: { top: number; height: number },
    wall: number,
    look: OutputStyle & { width: number },
  ): TableRows;
}

export function createTable(id: ViewId): ConsoleTable {
  return VIEWS[id]((view) => new ViewTable(view));
}

class ViewTable<R extends object> implements ConsoleTable {
  readonly #view: AnyView<R>;
  readonly #widths = new ColumnWidths();
  #options: TableOptions = { filter: "", order: undefined };
  #kept: RowCache<R>;
  #source: readonly R[] | undefined;
  #weights: SortCache<R> = new WeakMap();
  #rows: readonly R[] = [];
  remarks: readonly string[] = [];

  constructor(view: AnyView<R>) {
    this.#view = view;
    this.#kept = this.#createKeptRows();
  }

  get id(): ViewId {
    return this.#view.id as ViewId;
  }
  get brief(): string {
    return this.#view.brief;
  }
  get empty(): string {
    return this.#view.empty;
  }
  get columns(): readonly TableColumn<R>[] {
    return this.#view.columns;
  }
  get length(): number {
    return this.#rows.length;
  }
  get order(): SortOrder {
    return this.#options.order ?? parseSortOrder(this.#view.sort);
  }

  update(snapshot: Snapshot, wall: number, options: TableOptions): void {
    const isOther = options.filter !== this.#options.filter;
    const isOrdered = options.order === this.#options.order;
    this.#options = options;
    if (isOther) this.#kept = this.#createKeptRows();
    const { rows, scene } = this.#kept.computeRows(snapshot, wall);
    this.remarks = this.#view.listRemarks?.(scene) ?? [];
    if (rows === this.#source && isOrdered) return;
    this.#source = rows;
    if (!isOrdered) this.#weights = new WeakMap();
    this.#rows = sortViewRows(this.#view, rows, this.order, this.#weights);
  }

  getKeyAt(index: number): string | undefined {
    const row = this.#rows[index];
    return row && this.#view.getKey(row);
  }

  findIndex(key: string, near: number): number {
    if (this.getKeyAt(near) === key) return near;
    return this.#rows.findIndex((row) => this.#view.getKey(row) === key);
  }

  getSubjectAt(index: number): Subject | undefined {
    const row = this.#rows[index];
    return row && this.#view.getSubject(row);
  }

  findSubject(key: string): Subject | undefined {
    return this.getSubjectAt(this.findIndex(key, 0));
  }

  getJsonAt(index: number): object | undefined {
    const row = this.#rows[index];
    return row && this.#view.toJson(row);
  }

  getFactsAt(index: number, wall: number): { label: string; value: string }[] {
    const row = this.#rows[index];
    if (row === undefined) return [];
    const facts = this.#view.columns.map((column) => ({
      label: column.title.toLowerCase(),
      value: column.formatCell(row, wall),
    }));
    return facts.filter(({ value }) => value.trim() !== "");
  }

  buildRows(
    { top, height }: { top: number; height: number },
    wall: number,
    look: OutputStyle & { width: number },
  ): TableRows {
    const rows = this.#rows.slice(top, top + height);
    const strips = this.#buildStrips(rows, wall, look);
    const shown = fitColumns(strips, look.width, false);
    this.#widths.keep(shown);
    return { head: buildHeadSpans(shown, look), rows: rows.map((_, at) => buildRowSpans(shown, at, look)) };
  }

  /** Columns that have shown a value once stay visible and do not get narrower while the user looks at them. */
  #buildStrips(rows: readonly R[], wall: number, look: OutputStyle & { width: number }): GridColumn<R>[] {
    this.#widths.begin(`${look.width} ${this.#options.filter} ${JSON.stringify(this.order)}`);
    const all = this.#view.columns.filter(({ priority }) => priority < ON_DEMAND);
    const strips = all.map((column) => buildGridColumn(column, rows, wall, look));
    const filled = strips.filter(
      ({ column: { id }, texts }) => this.#widths.has(id) || texts.some((text) => text.trim() !== ""),
    );
    return filled.map((strip) => ({
      ...strip,
      title: strip.title + this.#formatOrderMark(strip.column.id, look),
      least: this.#widths.getWidth(strip.column.id),
    }));
  }

  #formatOrderMark(column: string, { marks }: OutputStyle): string {
    if (column !== this.order.column) return "";
    const [up, down] = marks?.problem === "! " ? ["^", "v"] : ["▲", "▼"];
    return ` ${this.order.descending ? down : up}`;
  }

  #createKeptRows(): RowCache<R> {
    const filter = parseRowFilter(this.#options.filter);
    const limit = Number.POSITIVE_INFINITY;
    return new RowCache(this.#view, { filter, order: undefined, columns: undefined, limit, all: true });
  }
}
