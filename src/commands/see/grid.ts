import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import { renderShareBar } from "../../state/shares.ts";
import type { Tone } from "../../state/subject.ts";
import type { TableColumn } from "../../views/view.ts";
import type { CommandIo } from "../command.ts";
import { type FittedColumn, fitColumns, GAP, type TextColumn } from "./fit-columns.ts";
import { detectOutputStyle, type OutputStyle, paintSpans, type TextSpan, trimSpans } from "./paint.ts";

/** Columns with this priority are shown only on request. */
export const ON_DEMAND = 9;
/** Width of the bar behind a share. */
const BAR_WIDTH = 8;
/** The indent of lines below a row. */
const INDENT = 4;

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
  wall: number;
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

/** Builds the line of one row. */
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
  const gap = { text: " ".repeat(GAP) };
  return trimSpans(
    cells.flatMap((cell, at) => (at === 0 ? [cell] : [gap, cell])),
    style,
  );
}

/** Renders all lines of a table. */
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

/** Builds a column for some rows. @param wall  wall clock, ms since the epoch */
export function buildGridColumn<R>(
  column: TableColumn<R>,
  rows: readonly R[],
  wall: number,
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
  const needed = whole.reduce((sum, strip) => sum + strip.width + GAP, -GAP);
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
  const indent = " ".repeat(INDENT);
  const available = Math.max(1, (style.width ?? Number.POSITIVE_INFINITY) - INDENT);
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
