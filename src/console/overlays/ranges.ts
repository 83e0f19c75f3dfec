import { findBoundaryFrom } from "./graphemes.ts";

/** A part of a text, as indexes: the first is included, the second is not. */
export type TextRange = readonly [from: number, to: number];

/** Converts offsets of single letters to ranges of whole graphemes. Adjacent ranges are merged. */
export function toTextRanges(text: string, offsets: readonly number[]): TextRange[] {
  const ranges: [number, number][] = [];
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    if (offset >= text.length) break;
    const last = ranges.at(-1);
    if (last !== undefined && offset < last[1]) continue;
    const end = findBoundaryFrom(text, offset + 1);
    if (last !== undefined && last[1] === offset) last[1] = end;
    else ranges.push([offset, end]);
  }
  return ranges;
}

/** Splits a text into its parts, in order, each within a range or outside. */
export function splitByRanges(
  text: string,
  ranges: readonly TextRange[],
): { text: string; isWithin: boolean }[] {
  const parts: { text: string; isWithin: boolean }[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(
      { text: text.slice(at, from), isWithin: false },
      { text: text.slice(from, to), isWithin: true },
    );
    at = to;
  }
  return [...parts, { text: text.slice(at), isWithin: false }].filter((part) => part.text !== "");
}
