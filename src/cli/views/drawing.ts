import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { renderShareBar } from "../../site/state/shares.ts";
import type { Share, TextSpan, Tone } from "../../site/state/subject.ts";

/** The characters of drawings. Each is one column wide, and a mark two. */
export interface DrawingSigns {
  /** Before a state, so that colour is never the only sign. */
  marks: Readonly<Record<Tone, string>>;
  /** A full cell of a bar, and an empty one. */
  bar: readonly [string, string];
  /** Levels of a load, the lowest first. */
  levels: string;
  drained: string;
  gone: string;
  /** Values in a cell of a graph, side by side. */
  perCell: 1 | 2;
  /** The line at the left edge of a graph. */
  edge: string;
  /** Between two facts on a line. */
  dot: string;
}

export const UNICODE_DRAWING: DrawingSigns = {
  marks: { held: "● ", free: "○ ", waiting: "◌ ", problem: "▲ ", quiet: "  ", plain: "  ", accent: "  " },
  bar: ["█", "░"],
  levels: "▁▂▃▄▅▆▇█",
  drained: "╳",
  gone: "·",
  perCell: 2,
  edge: "│",
  dot: "·",
};

export const ASCII_DRAWING: DrawingSigns = {
  marks: { held: "* ", free: "o ", waiting: ". ", problem: "! ", quiet: "  ", plain: "  ", accent: "  " },
  bar: ["#", "."],
  levels: "_.-=+*%#",
  drained: "x",
  gone: "?",
  perCell: 1,
  edge: "|",
  dot: "-",
};

/** Lines of text in pieces. Their texts are clean. */
export type Drawing = readonly (readonly TextSpan[])[];

export function measureSpans(spans: readonly TextSpan[]): number {
  return spans.reduce((sum, { text }) => sum + computeDisplayWidth(text), 0);
}

/** Cuts a line to a width. */
export function clipSpans(spans: readonly TextSpan[], width: number): readonly TextSpan[] {
  if (measureSpans(spans) <= width) return spans;
  let left = width;
  return spans.flatMap((span) => {
    const text = cleanToWidth(span.text, Math.max(0, left));
    left -= computeDisplayWidth(span.text);
    return text === "" ? [] : [{ ...span, text }];
  });
}

/** Cleans a text, and cuts or pads it to a width. */
export function fitText(text: string, width: number, align?: "right" | undefined): string {
  const kept = cleanToWidth(text, width);
  const blanks = " ".repeat(Math.max(0, width - computeDisplayWidth(kept)));
  return align === "right" ? blanks + kept : kept + blanks;
}

/** Puts drawings side by side, with two columns between them. */
export function joinDrawings(drawings: readonly { lines: Drawing; width: number }[]): Drawing {
  const height = Math.max(0, ...drawings.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    drawings.flatMap(({ lines, width }, at) => {
      const line = lines[row] ?? [];
      const isLast = at === drawings.length - 1;
      return isLast ? line : [...line, { text: " ".repeat(Math.max(0, width - measureSpans(line)) + 2) }];
    }),
  );
}

/** Draws a share as a bar on a dim track. */
export function drawBar(
  share: Share,
  width: number,
  role: Tone,
  { bar }: Pick<DrawingSigns, "bar">,
): TextSpan[] {
  const text = renderShareBar(share, bar, width);
  const full = text.lastIndexOf(bar[0]) + 1;
  return [
    { text: text.slice(0, full), role },
    { text: text.slice(full), role: "quiet" },
  ];
}

/** Parts of the dots of a braille cell that are filled by 0 to 4 dots from the bottom: left and right column. */
const FROM_BOTTOM = [
  [0, 0x40, 0x44, 0x46, 0x47],
  [0, 0x80, 0xa0, 0xb0, 0xb8],
] as const;
/** The same from the top. */
const FROM_TOP = [
  [0, 0x01, 0x03, 0x07, 0x47],
  [0, 0x08, 0x18, 0x38, 0xb8],
] as const;
const FIRST_BRAILLE = 0x2800;
/** Dots of a cell, one above the other. */
const DOTS_PER_CELL = 4;

/** ASCII characters for a cell that is filled by 0 to 4 quarters. */
const ASCII_FROM_BOTTOM = " .:|#";
const ASCII_FROM_TOP = " '\"|#";

interface AreaOptions {
  /** Lines. */
  height: number;
  /** The value of a full column. */
  most: number;
  /** Whether it hangs from the top: the largest values reach the bottom. */
  isHanging?: boolean;
}

/** Draws values as the filled area below a curve. A value above 0 has at least one dot. */
export function drawArea(
  values: readonly number[],
  { height, most, isHanging = false }: AreaOptions,
  { perCell }: Pick<DrawingSigns, "perCell">,
): string[] {
  const levels = values.map((value) => {
    const level = most > 0 ? Math.round((value / most) * height * DOTS_PER_CELL) : 0;
    return value > 0 ? Math.max(1, level) : 0;
  });
  return Array.from({ length: height }, (_, row) => {
    const below = DOTS_PER_CELL * (isHanging ? row : height - 1 - row);
    const fills = levels.map((level) => Math.max(0, Math.min(DOTS_PER_CELL, level - below)));
    return perCell === 1 ? drawAsciiLine(fills, isHanging) : drawBrailleLine(fills, isHanging);
  });
}

function drawAsciiLine(fills: readonly number[], isHanging: boolean): string {
  const signs = isHanging ? ASCII_FROM_TOP : ASCII_FROM_BOTTOM;
  return fills.map((fill) => signs[fill] ?? " ").join("");
}

function drawBrailleLine(fills: readonly number[], isHanging: boolean): string {
  const [left, right] = isHanging ? FROM_TOP : FROM_BOTTOM;
  let line = "";
  for (let at = 0; at < fills.length; at += 2) {
    const dots = (left[fills[at] ?? 0] ?? 0) + (right[fills[at + 1] ?? 0] ?? 0);
    line += dots === 0 ? " " : String.fromCharCode(FIRST_BRAILLE + dots);
  }
  return line;
}

/**
 * Two series of one span, drawn back to back: the first stands on the second, which hangs from it. `bad`: the values of the first
 * series that something went wrong with. Only their topmost cells show it: the rest of the column went well.
 */
interface GraphOptions {
  /** Lines of each series. */
  heights: readonly [number, number];
  tones: readonly [Tone, Tone];
  bad?: readonly boolean[];
}

/** Width of the scale to the left of a graph. */
const SCALE_WIDTH = 7;

/** Returns how many values a graph of a width can show. */
export function countGraphValues(width: number, { perCell }: Pick<DrawingSigns, "perCell">): number {
  return Math.max(1, width - SCALE_WIDTH) * perCell;
}

/** Draws two series, each on a scale of its own, with its largest value beside it. */
export function drawGraph(
  series: readonly [readonly number[], readonly number[]],
  { heights, tones, bad = [] }: GraphOptions,
  signs: DrawingSigns,
): Drawing {
  return series.flatMap((values, at) => {
    const most = Math.max(1, Math.ceil(Math.max(0, ...values)));
    const isHanging = at === 1;
    const height = heights[at] ?? 0;
    const area = drawArea(values, { height, most, isHanging }, signs);
    return area.map((text, row) => {
      const isEdge = row === (isHanging ? height - 1 : 0);
      const label = fitText(isEdge ? formatCount(most) : "", SCALE_WIDTH - 2, "right");
      return [
        { text: `${label} ${signs.edge}`, role: "quiet" as const },
        ...paintCells(text, (cell) => {
          const isTop = (area[row - 1]?.[cell] ?? " ") === " ";
          const isBad = bad.slice(cell * signs.perCell, (cell + 1) * signs.perCell).includes(true);
          return at === 0 && isTop && isBad ? "problem" : tones[at];
        }),
      ];
    });
  });
}

/** Makes a span of each run of characters with the same role. */
function paintCells(text: string, getRole: (cell: number) => Tone | undefined): TextSpan[] {
  const spans: TextSpan[] = [];
  for (const [at, sign] of [...text].entries()) {
    const role = getRole(at);
    const last = spans.at(-1);
    if (last?.role === role && last !== undefined) last.text += sign;
    else spans.push({ text: sign, role });
  }
  return spans;
}

/** Formats a number in at most five characters: `950`, `12.3k`. */
function formatCount(count: number): string {
  return count < 10_000 ? String(count) : `${(count / 1_000).toFixed(count < 100_000 ? 1 : 0)}k`;
}

/** Returns the character of a part of the whole. Only 0 is the lowest, and only 1 the highest. */
export function drawLevel(part: number, { levels }: Pick<DrawingSigns, "levels">): string {
  const last = levels.length - 1;
  const level = part <= 0 ? 0 : part >= 1 ? last : 1 + Math.floor(part * (last - 1));
  return levels[Math.min(last, level)] ?? "";
}
