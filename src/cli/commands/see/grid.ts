import type { WallTime } from "../../../core/base/clock.ts";
import { cleanToWidth, computeDisplayWidth } from "../../../core/base/display-width.ts";
import { clean } from "../../../core/base/text.ts";
import { renderShareBar } from "../../../site/state/shares.ts";
import type { Tone } from "../../../site/state/subject.ts";
import type { CommandIo } from "../../frame/command.ts";
import type { TableColumn } from "../../views/view.ts";
import { detectOutputStyle, type OutputStyle, paintSpans, type TextSpan, trimSpans } from "./paint.ts";

/** Columns with this priority are shown only on request. */
export const ON_DEMAND = 9;
/** Width of the bar behind a share. */
const BAR_WIDTH = 8;
/** The indent of lines below a row. */
const INDENT_COLUMNS = 4;

/** A column of a table with its texts and tones. */
export interface GridColumn<R> extends TextColumn {
  column: TableColumn<R>;
  tones: readonly Tone[];
}

/** The columns and rows to show. */
interface GridTable<R> {
  columns: readonly TableColumn<R>[];
  rows: readonly R[];
  /** Wall clock, ms since the epoch. */
  wall: WallTime;
}

/** The lines of a table, in pieces: the heading, and the lines of every row. */
interface GridSpans {
  head: TextSpan[];
  rows: TextSpan[][][];
}

/**
 * Builds a table that fits the terminal: columns are as wide as necessary; if there is no room, those of low priority
 * are left out and the widest are cut.
 * @param named  the requested columns; undefined for the default columns without those that are empty
 */
export function buildGridSpans<R>(
  { columns, rows, wall }: GridTable<R>,
  style: OutputStyle,
  named?: readonly string[],
): GridSpans {
  const wanted = named
    ? named.flatMap((id) => columns.find((column) => column.id === id) ?? [])
    : columns.filter(({ priority }) => priority < ON_DEMAND);
  const strips = wanted.map((column) => buildGridColumn(column, rows, wall, style));
  const filled = named ? strips : strips.filter(({ texts }) => texts.some((text) => text.trim() !== ""));
  const { beside, below } = placeColumns(filled, style.width, named !== undefined);
  return {
    head: buildHeadSpans(beside, style),
    rows: rows.map((_, at) => [
      buildRowSpans(beside, at, style),
      ...below.flatMap((strip) => formatLinesBelow(strip, at, style)).map((text) => [{ text }]),
    ]),
  };
}

/** Renders the same as text. */
export function renderGrid<R>(
  table: GridTable<R>,
  style: OutputStyle,
  named?: readonly string[],
): { head: string; rows: string[][] } {
  const { head, rows } = buildGridSpans(table, style, named);
  return {
    head: paintSpans(head, style),
    rows: rows.map((lines) => lines.map((line) => paintSpans(line, style))),
  };
}

/** Builds the line with the titles of columns. */
export function buildHeadSpans<R>(
  strips: readonly FittedColumn<GridColumn<R>>[],
  style: OutputStyle,
): TextSpan[] {
  const cells = strips.map((strip) => ({ text: padCell(strip, strip.title), role: "heading" as const }));
  return joinCells(cells, style);
}

export function buildRowSpans<R>(
  strips: readonly FittedColumn<GridColumn<R>>[],
  at: number,
  style: OutputStyle,
): TextSpan[] {
  return joinCells(
    strips.map((strip) => buildCell(strip, at)),
    style,
  );
}

function joinCells(cells: readonly TextSpan[], style: OutputStyle): TextSpan[] {
  const gap = { text: " ".repeat(COLUMN_GAP) };
  return trimSpans(
    cells.flatMap((cell, at) => (at === 0 ? [cell] : [gap, cell])),
    style,
  );
}

export function renderGridLines<R>(
  table: GridTable<R>,
  style: OutputStyle,
  named?: readonly string[],
): string[] {
  const { head, rows: blocks } = renderGrid(table, style, named);
  return [head, ...blocks.flat()];
}

/** Prints a table whose cells do not depend on the time. */
export function printTable<R>(io: CommandIo, columns: readonly TableColumn<R>[], rows: readonly R[]): void {
  io.writeOutput(`${renderGridLines({ columns, rows, wall: 0 }, detectOutputStyle(io)).join("\n")}\n`);
}

/** Builds a column for some rows. */
export function buildGridColumn<R>(
  column: TableColumn<R>,
  rows: readonly R[],
  wall: WallTime,
  style: OutputStyle,
): GridColumn<R> {
  const { title, priority, align, isMarked, formatBriefCell } = column;
  const tones = rows.map((row) => column.getTone?.(row, wall) ?? "plain");
  const addMark = (text: string, at: number) =>
    (isMarked ? (style.marks?.[tones[at] ?? "plain"] ?? "") : "") + clean(text) + formatBar(at);
  const formatBar = (at: number) => {
    const row = rows[at];
    if (style.bar === undefined || column.getShare === undefined || row === undefined) return "";
    return ` ${renderShareBar(column.getShare(row), style.bar, BAR_WIDTH)}`;
  };
  // An arrow of ASCII signs says that the terminal shows only these, or that it is a pipe.
  const formatText = (row: R) =>
    style.arrow === "->" && column.formatAsciiCell !== undefined
      ? column.formatAsciiCell(row)
      : column.formatCell(row, wall);
  return {
    column,
    tones,
    title,
    priority,
    isWhole: align === "right" || isMarked === true,
    texts: rows.map((row, at) => addMark(formatText(row), at)),
    briefs: formatBriefCell && rows.map((row, at) => addMark(formatBriefCell.call(column, row), at)),
  };
}

/** Places sentences below their rows if the table would be too wide. */
function placeColumns<R>(strips: readonly GridColumn<R>[], width: number | undefined, keepsAll: boolean) {
  const whole = fitColumns(strips, undefined, keepsAll);
  const needed = whole.reduce((sum, strip) => sum + strip.width + COLUMN_GAP, -COLUMN_GAP);
  const isWide = width === undefined || needed <= width;
  const below = isWide ? [] : strips.filter(({ column }) => column.below !== undefined);
  const beside = strips.filter((strip) => !below.includes(strip));
  return { beside: fitColumns(beside, width, keepsAll), below };
}

function buildCell<R>(strip: FittedColumn<GridColumn<R>>, at: number): TextSpan {
  const text = strip.texts[at] ?? "";
  const role = text === "" ? "quiet" : (strip.tones[at] ?? "plain");
  return { text: padCell(strip, cleanToWidth(text, strip.width) || "-"), role };
}

function padCell<R>({ column, width }: FittedColumn<GridColumn<R>>, text: string): string {
  const space = " ".repeat(Math.max(0, width - computeDisplayWidth(text)));
  return column.align === "right" ? space + text : text + space;
}

/**
 * Formats the text below a row. A sentence is wrapped; a line to copy stays one line, even if the terminal breaks it.
 */
function formatLinesBelow<R>({ column, texts }: GridColumn<R>, at: number, style: OutputStyle): string[] {
  const text = texts[at] ?? "";
  if (text === "") return [];
  const indent = " ".repeat(INDENT_COLUMNS);
  const available = Math.max(1, (style.width ?? Number.POSITIVE_INFINITY) - INDENT_COLUMNS);
  if (column.below === "sentence") return wrapText(text, available).map((line) => indent + line);
  const line = `${style.arrow} ${text}`;
  return [indent + (style.isClipped ? cleanToWidth(line, available) : line)];
}

/** Wraps a clean text between words. A word that is longer than a line is cut. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && computeDisplayWidth(longer) > columns) {
      lines.push(line);
      line = cleanToWidth(word, columns);
    } else line = cleanToWidth(longer, columns);
  }
  return line === "" ? lines : [...lines, line];
}

/** A column and the texts of its cells, escaped for a terminal. */
interface TextColumn {
  title: string;
  priority: number;
  /** Never cut: numbers, and words that mean nothing in part. */
  isWhole: boolean;
  texts: readonly string[];
  /** Smallest width, in columns: the previous width, so that a live table does not jump. */
  least?: number | undefined;
  /** Shorter texts of the same cells, if the column has them. */
  briefs?: readonly string[] | undefined;
}

export type FittedColumn<S> = S & { width: number };

/** Space between two columns. */
export const COLUMN_GAP = 2;
/** Columns are not cut below `MIN_CUT_WIDTH`. Columns up to `SMALL_WIDTH` are cut only in the last step. */
const MIN_CUT_WIDTH = 10;
const SMALL_WIDTH = 14;
/**
 * Columns that are not whole are cut to these widths before others are left out: to `ENOUGH_WIDTH` to keep columns up
 * to priority `CORE_PRIORITY`, to `AMPLE_WIDTH` to keep further ones.
 */
const ENOUGH_WIDTH = 20;
const AMPLE_WIDTH = 32;
/** The share of its cells that a column must show in full before other columns are left out for it. */
const SHOWN_SHARE = 0.8;
/** Cells are shortened if the columns up to this priority do not fit otherwise. A lower number is a higher priority. */
export const CORE_PRIORITY = 4;

/**
 * Chooses the columns to show and their widths. If there is not enough room, it uses the short form of cells, then
 * leaves out the columns of lowest priority, then cuts the widest. Numbers are never cut.
 * @param width  columns of the terminal; undefined for no limit
 * @param keepsAll  shows all columns, because they were asked for by name
 */
export function fitColumns<S extends TextColumn>(
  strips: readonly S[],
  width: number | undefined,
  keepsAll: boolean,
): FittedColumn<S>[] {
  const whole = strips.map(measureColumn);
  if (width === undefined || computeTotalWidth(whole) <= width) return whole;
  const core = strips.filter(({ priority }) => keepsAll || priority <= CORE_PRIORITY);
  const isTight = computeComfortableWidth(core, ENOUGH_WIDTH) > width;
  const written = isTight ? strips.map(shortenColumn) : strips;
  const shown = keepsAll
    ? written
    : dropColumns(dropColumns(written, width, CORE_PRIORITY, AMPLE_WIDTH), width, 1, ENOUGH_WIDTH);
  return cutColumns(shown.map(measureColumn), width);
}

/**
 * Leaves out columns, lowest priority first, until the others have room. Columns with a priority up to `spared` stay.
 */
function dropColumns<S extends TextColumn>(
  strips: readonly S[],
  width: number,
  spared: number,
  most: number,
): readonly S[] {
  let shown = strips;
  while (computeComfortableWidth(shown, most) > width) {
    const least = shown.reduce((worst, strip) => (strip.priority >= worst.priority ? strip : worst));
    if (least.priority <= spared) break;
    shown = shown.filter((strip) => strip !== least);
  }
  return shown;
}

/** Returns a column with the short form of its cells, if it has one. */
export function shortenColumn<S extends TextColumn>(strip: S): S {
  return strip.briefs === undefined ? strip : { ...strip, texts: strip.briefs };
}

function measureColumn<S extends TextColumn>(strip: S): FittedColumn<S> {
  const start = Math.max(computeDisplayWidth(strip.title), strip.least ?? 0);
  const width = strip.texts.reduce((most, text) => Math.max(most, computeDisplayWidth(text)), start);
  return { ...strip, width };
}

function computeTotalWidth(strips: readonly { width: number }[]): number {
  return strips.reduce((sum, { width }) => sum + width, COLUMN_GAP * (strips.length - 1));
}

/** Computes the width at which columns show most of their content. */
function computeComfortableWidth(strips: readonly TextColumn[], most: number): number {
  return computeTotalWidth(strips.map((strip) => ({ width: computeSufficientWidth(strip, most) })));
}

function computeSufficientWidth(strip: TextColumn, most: number): number {
  const { title, texts, isWhole } = strip;
  const own = measureColumn(strip).width;
  if (isWhole) return own;
  const sorted = texts.filter((text) => text.trim() !== "").map(computeDisplayWidth);
  sorted.sort((a, b) => a - b);
  const usual = sorted[Math.max(0, Math.ceil(sorted.length * SHOWN_SHARE) - 1)] ?? 0;
  // The name of a row identifies it: cut, `db1.example.com_cpu` and `db1.example.com_mem` would look the same.
  const limit = strip.priority <= 1 ? AMPLE_WIDTH : most;
  return Math.max(title.length, Math.min(own, Math.max(SMALL_WIDTH, Math.min(usual, limit))));
}

/**
 * Cuts columns to fit: first the very wide ones, then each to a sufficient width, lowest priority first, then as far as
 * necessary.
 */
function cutColumns<S extends TextColumn>(
  strips: readonly FittedColumn<S>[],
  width: number,
): FittedColumn<S>[] {
  const weights = [...new Set(strips.map(({ priority }) => priority))].sort((a, b) => b - a);
  const limitWidth = (most: number) => (strip: FittedColumn<S>) =>
    strip.isWhole ? strip.width : Math.min(strip.width, most);
  const steps = weights.map(
    (weight) => (strip: FittedColumn<S>) =>
      strip.priority === weight ? computeSufficientWidth(strip, ENOUGH_WIDTH) : strip.width,
  );
  return [limitWidth(AMPLE_WIDTH), ...steps, limitWidth(MIN_CUT_WIDTH)].reduce(
    (shown, floor) => cutToFloor(shown, width, floor),
    [...strips],
  );
}

/** Cuts the widest column, down to its floor, until all columns fit or none can be cut. */
function cutToFloor<S extends TextColumn>(
  strips: readonly FittedColumn<S>[],
  width: number,
  floor: (strip: FittedColumn<S>) => number,
): FittedColumn<S>[] {
  const shown = strips.map((strip) => ({ strip, width: strip.width, least: floor(strip) }));
  for (let over = computeTotalWidth(shown) - width; over > 0; over = computeTotalWidth(shown) - width) {
    const [widest, next] = shown.filter((one) => one.width > one.least).sort((a, b) => b.width - a.width);
    if (widest === undefined) break;
    const step = Math.max(1, widest.width - Math.max(next?.width ?? 0, widest.least));
    widest.width = Math.max(widest.least, widest.width - Math.min(over, step));
  }
  return shown.map(({ strip, width: own }) => ({ ...strip, width: own }));
}

/** Maximum number of blanks added to a column. More would tear the cells of a row apart. */
const MOST_BLANKS = 4;

/** Spreads columns over a width that they do not need: each but the last gets the same number of further blanks. */
export function spreadColumns<S extends TextColumn>(
  columns: readonly FittedColumn<S>[],
  width: number,
): readonly FittedColumn<S>[] {
  const needed = columns.reduce((sum, column) => sum + column.width + COLUMN_GAP, -COLUMN_GAP);
  const more = Math.min(MOST_BLANKS, Math.floor((width - needed) / Math.max(1, columns.length - 1)));
  if (more <= 0) return columns;
  return columns.map((column, at) =>
    at === columns.length - 1 ? column : { ...column, width: column.width + more },
  );
}
