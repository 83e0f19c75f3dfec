import { fitted } from "../../commands/see/fit.ts";
import { type ColumnStrip, headLine, ON_DEMAND, rowLine, stripOf } from "../../commands/see/grid.ts";
import { KeptRows } from "../../commands/see/kept-rows.ts";
import type { Look } from "../../commands/see/paint.ts";
import { parseFilter } from "../../model/filter.ts";
import type { Picture } from "../../model/picture.ts";
import { VIEWS, type ViewId } from "../../model/tables/index.ts";
import { type Order, parseOrder, sorted, type Weights } from "../../model/tables/sort.ts";
import type { AnyView, Column, Subject } from "../../model/tables/view.ts";
import type { Rows } from "../state/cursor.ts";
import { Widths } from "./widths.ts";

/** What is wanted of a table. */
export interface TableWish {
  filter: string;
  order: Order | undefined;
}

/** Lines of a table as they are painted. */
export interface TableLines {
  head: string;
  rows: readonly string[];
}

/** A view over one picture after the other, without the type of its rows. */
export interface Table extends Rows {
  readonly id: ViewId;
  readonly brief: string;
  /** What to do where there is nothing. */
  readonly empty: string;
  readonly columns: readonly { id: string; title: string }[];
  /** The order in force. */
  readonly order: Order;
  /** Sentences about the rows, which stand in none of them. */
  readonly remarks: readonly string[];
  /** Takes the rows of a picture. Costs next to nothing where nothing has changed. */
  update(picture: Picture, wall: number, wish: TableWish): void;
  subjectAt(index: number): Subject | undefined;
  subjectOf(key: string): Subject | undefined;
  /** The row for programs. */
  jsonAt(index: number): object | undefined;
  /** All columns of a row with their titles, those that are empty left out. */
  factsAt(index: number, wall: number): { label: string; value: string }[];
  /** @param top  the first of the rows; @param height  how many of them */
  lines(window: { top: number; height: number }, wall: number, look: Look & { width: number }): TableLines;
}

export function tableOf(id: ViewId): Table {
  return VIEWS[id]((view) => new ViewTable(view));
}

class ViewTable<R extends object> implements Table {
  readonly #view: AnyView<R>;
  readonly #widths = new Widths();
  #wish: TableWish = { filter: "", order: undefined };
  #kept: KeptRows<R>;
  #source: readonly R[] | undefined;
  #weights: Weights<R> = new WeakMap();
  #rows: readonly R[] = [];
  remarks: readonly string[] = [];

  constructor(view: AnyView<R>) {
    this.#view = view;
    this.#kept = this.#keep();
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
  get columns(): readonly Column<R>[] {
    return this.#view.columns;
  }
  get length(): number {
    return this.#rows.length;
  }
  get order(): Order {
    return this.#wish.order ?? parseOrder(this.#view.sort);
  }

  update(picture: Picture, wall: number, wish: TableWish): void {
    const isOther = wish.filter !== this.#wish.filter;
    const isOrdered = wish.order === this.#wish.order;
    this.#wish = wish;
    if (isOther) this.#kept = this.#keep();
    const { rows, scene } = this.#kept.of(picture, wall);
    this.remarks = this.#view.remarks?.(scene) ?? [];
    if (rows === this.#source && isOrdered) return;
    this.#source = rows;
    if (!isOrdered) this.#weights = new WeakMap();
    this.#rows = sorted(this.#view, rows, this.order, this.#weights);
  }

  keyAt(index: number): string | undefined {
    const row = this.#rows[index];
    return row && this.#view.key(row);
  }

  indexOf(key: string, near: number): number {
    if (this.keyAt(near) === key) return near;
    return this.#rows.findIndex((row) => this.#view.key(row) === key);
  }

  subjectAt(index: number): Subject | undefined {
    const row = this.#rows[index];
    return row && this.#view.subject(row);
  }

  subjectOf(key: string): Subject | undefined {
    return this.subjectAt(this.indexOf(key, 0));
  }

  jsonAt(index: number): object | undefined {
    const row = this.#rows[index];
    return row && this.#view.json(row);
  }

  factsAt(index: number, wall: number): { label: string; value: string }[] {
    const row = this.#rows[index];
    if (row === undefined) return [];
    const facts = this.#view.columns.map((column) => ({
      label: column.title.toLowerCase(),
      value: column.text(row, wall),
    }));
    return facts.filter(({ value }) => value.trim() !== "");
  }

  lines(
    { top, height }: { top: number; height: number },
    wall: number,
    look: Look & { width: number },
  ): TableLines {
    const rows = this.#rows.slice(top, top + height);
    const strips = this.#strips(rows, wall, look);
    const shown = fitted(strips, look.width, false);
    this.#widths.keep(shown);
    return { head: headLine(shown, look), rows: rows.map((_, at) => rowLine(shown, at, look)) };
  }

  /** Columns that have once shown something stay, and none gets narrower while one looks. */
  #strips(rows: readonly R[], wall: number, look: Look & { width: number }): ColumnStrip<R>[] {
    this.#widths.begin(`${look.width} ${this.#wish.filter} ${JSON.stringify(this.order)}`);
    const all = this.#view.columns.filter(({ priority }) => priority < ON_DEMAND);
    const strips = all.map((column) => stripOf(column, rows, wall, look));
    const filled = strips.filter(
      ({ column: { id }, texts }) => this.#widths.has(id) || texts.some((text) => text.trim() !== ""),
    );
    return filled.map((strip) => ({
      ...strip,
      title: strip.title + this.#orderMark(strip.column.id, look),
      least: this.#widths.of(strip.column.id),
    }));
  }

  #orderMark(column: string, { marks }: Look): string {
    if (column !== this.order.column) return "";
    const [up, down] = marks?.problem === "! " ? ["^", "v"] : ["▲", "▼"];
    return ` ${this.order.descending ? down : up}`;
  }

  #keep(): KeptRows<R> {
    const filter = parseFilter(this.#wish.filter);
    const limit = Number.POSITIVE_INFINITY;
    return new KeptRows(this.#view, { filter, order: undefined, columns: undefined, limit, all: true });
  }
}
