import { clean, displayWidth } from "../../base/text.ts";
import type { Column, Tone } from "../../model/tables/view.ts";
import { type Fitted, fitted, GAP, type Strip } from "./fit.ts";
import { heading, type Look, painted } from "./paint.ts";
import { wrapped } from "./wrap.ts";

/** Columns with this priority are shown only where they are asked for. */
export const ON_DEMAND = 9;
/** How far lines below a row stand in. */
const INDENT = 4;

/** A column of a table with its texts and tones. */
export interface ColumnStrip<R> extends Strip {
  column: Column<R>;
  tones: readonly Tone[];
}

/** What is shown. */
export interface Table<R> {
  columns: readonly Column<R>[];
  rows: readonly R[];
  /** Wall clock, ms since the epoch. */
  wall: number;
}

/** A table as it is shown: the line above, and for every row the lines that it takes. */
export interface Grid {
  head: string;
  rows: string[][];
}

/**
 * Rows as a table, fit for the terminal: columns as wide as they need be, those of little weight left out and the widest
 * cut where there is no room.
 * @param named  the columns that were asked for; undefined for the usual ones, less those that are empty throughout
 */
export function grid<R>({ columns, rows, wall }: Table<R>, look: Look, named?: readonly string[]): Grid {
  const wanted = named
    ? named.flatMap((id) => columns.find((column) => column.id === id) ?? [])
    : columns.filter(({ priority }) => priority < ON_DEMAND);
  const strips = wanted.map((column) => stripOf(column, rows, wall, look));
  const filled = named ? strips : strips.filter(({ texts }) => texts.some((text) => text.trim() !== ""));
  const { beside, below } = placed(filled, look.width, named !== undefined);
  return {
    head: headLine(beside, look),
    rows: rows.map((_, at) => [
      rowLine(beside, at, look),
      ...below.flatMap((strip) => linesBelow(strip, at, look)),
    ]),
  };
}

/** The titles of columns, above their rows. */
export function headLine<R>(strips: readonly Fitted<ColumnStrip<R>>[], look: Look): string {
  return joined(strips.map((strip) => heading(padded(strip, strip.title), look)));
}

/** One row. */
export function rowLine<R>(strips: readonly Fitted<ColumnStrip<R>>[], at: number, look: Look): string {
  return joined(strips.map((strip) => cellText(strip, at, look)));
}

function joined(cells: readonly string[]): string {
  return cells.join(" ".repeat(GAP)).trimEnd();
}

/** All lines of a table. */
export function gridLines<R>(table: Table<R>, look: Look, named?: readonly string[]): string[] {
  const { head, rows: blocks } = grid(table, look, named);
  return [head, ...blocks.flat()];
}

/** A column of some rows. @param wall  wall clock, ms since the epoch */
export function stripOf<R>(column: Column<R>, rows: readonly R[], wall: number, look: Look): ColumnStrip<R> {
  const { title, priority, align, isMarked, brief } = column;
  const tones = rows.map((row) => column.tone?.(row) ?? "plain");
  const marked = (text: string, at: number) =>
    (isMarked ? (look.marks?.[tones[at] ?? "plain"] ?? "") : "") + clean(text);
  return {
    ...{ column, tones, title, priority, isWhole: align === "right" || isMarked === true },
    texts: rows.map((row, at) => marked(column.text(row, wall), at)),
    briefs: brief && rows.map((row, at) => marked(brief.call(column, row), at)),
  };
}

/** Sentences go below their rows where they cannot stand in them whole. */
function placed<R>(strips: readonly ColumnStrip<R>[], width: number | undefined, keepsAll: boolean) {
  const whole = fitted(strips, undefined, keepsAll);
  const needed = whole.reduce((sum, strip) => sum + strip.width + GAP, -GAP);
  const isWide = width === undefined || needed <= width;
  const below = isWide ? [] : strips.filter(({ column }) => column.below !== undefined);
  const beside = strips.filter((strip) => !below.includes(strip));
  return { beside: fitted(beside, width, keepsAll), below };
}

function cellText<R>(strip: Fitted<ColumnStrip<R>>, at: number, look: Look): string {
  const text = strip.texts[at] ?? "";
  const tone = text === "" ? "quiet" : (strip.tones[at] ?? "plain");
  return painted(padded(strip, clean(text, strip.width) || "-"), tone, look);
}

function padded<R>({ column, width }: Fitted<ColumnStrip<R>>, text: string): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return column.align === "right" ? space + text : text + space;
}

/** A sentence is broken where there is no room; a line to copy stays one, whatever the terminal makes of it. */
function linesBelow<R>({ column, texts }: ColumnStrip<R>, at: number, look: Look): string[] {
  const text = texts[at] ?? "";
  if (text === "") return [];
  const indent = " ".repeat(INDENT);
  const room = Math.max(1, (look.width ?? Number.POSITIVE_INFINITY) - INDENT);
  if (column.below === "sentence") return wrapped(text, room).map((line) => indent + line);
  const line = `${look.arrow} ${text}`;
  return [indent + (look.isClipped ? clean(line, room) : line)];
}
