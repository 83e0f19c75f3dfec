import { clean, displayWidth } from "../base/text.ts";
import type { Column, Tone } from "../model/tables/view.ts";
import { heading, type Look, painted } from "./paint.ts";

/** Columns with this priority are shown only where they are asked for. */
const ON_DEMAND = 9;
const GAP = 2;
/** A column is not cut shorter than this. */
const SHORTEST = 10;

interface Cell {
  text: string;
  tone: Tone;
}

interface Strip<R> {
  column: Column<R>;
  cells: Cell[];
  width: number;
}

/**
 * Rows as lines of a table, heading first: columns as wide as they need be, those of little weight left out and the widest
 * cut where there is no room.
 * @param named  the columns that were asked for; undefined for the usual ones, less those that are empty throughout
 */
export function grid<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  look: Look,
  named?: readonly string[],
): string[] {
  const wanted = named
    ? named.flatMap((id) => columns.find((column) => column.id === id) ?? [])
    : columns.filter(({ priority }) => priority < ON_DEMAND);
  const strips = wanted.map((column) => stripOf(column, rows, look));
  const filled = named ? strips : strips.filter(({ cells }) => cells.some(({ text }) => text.trim() !== ""));
  const shown = fitted(filled, look.width, named !== undefined);
  const head = shown.map((strip) => heading(padded(strip, strip.column.title), look));
  const lines = rows.map((_, index) => shown.map((strip) => cellText(strip, strip.cells[index], look)));
  return [head, ...lines].map((cells) => cells.join(" ".repeat(GAP)).trimEnd());
}

function stripOf<R>(column: Column<R>, rows: readonly R[], look: Look): Strip<R> {
  const cells = rows.map((row) => {
    const tone = column.tone?.(row) ?? "plain";
    const mark = column.id === "state" ? (look.marks?.[tone] ?? "") : "";
    return { text: mark + clean(column.text(row)), tone };
  });
  const width = cells.reduce((most, { text }) => Math.max(most, displayWidth(text)), column.title.length);
  return { column, cells, width };
}

function fitted<R>(strips: readonly Strip<R>[], width: number | undefined, keepsAll: boolean): Strip<R>[] {
  let shown = [...strips];
  if (width === undefined) return shown;
  while (!keepsAll && shown.length > 1 && total(shown) > width) {
    const least = shown.reduce((worst, strip) =>
      strip.column.priority >= worst.column.priority ? strip : worst,
    );
    if (least.column.priority <= 1 || (least.column.priority <= 2 && couldShrink(shown, width))) break;
    shown = shown.filter((strip) => strip !== least);
  }
  return shrunk(shown, width);
}

function total<R>(strips: readonly Strip<R>[]): number {
  return strips.reduce((sum, { width }) => sum + width, GAP * (strips.length - 1));
}

function couldShrink<R>(strips: readonly Strip<R>[], width: number): boolean {
  return total(strips.map((strip) => ({ ...strip, width: Math.min(strip.width, 2 * SHORTEST) }))) <= width;
}

/** Cuts the widest column, again and again, until all fit or none can be cut. */
function shrunk<R>(strips: readonly Strip<R>[], width: number): Strip<R>[] {
  const shown = strips.map((strip) => ({ ...strip }));
  for (let over = total(shown) - width; over > 0; over = total(shown) - width) {
    const [widest, next] = [...shown].sort((a, b) => b.width - a.width);
    if (widest === undefined || widest.width <= SHORTEST) break;
    const step = Math.max(1, widest.width - Math.max(next?.width ?? 0, SHORTEST));
    widest.width = Math.max(SHORTEST, widest.width - Math.min(over, step));
  }
  return shown;
}

function cellText<R>(strip: Strip<R>, cell: Cell | undefined, look: Look): string {
  const { text, tone } = cell ?? { text: "", tone: "plain" };
  return painted(padded(strip, clean(text, strip.width) || "-"), text === "" ? "quiet" : tone, look);
}

function padded<R>({ column, width }: Strip<R>, text: string): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return column.align === "right" ? space + text : text + space;
}
