import { boundaryFrom } from "../field/graphemes.ts";

/** A part of a text, as indexes: from the first, up to but without the second. */
export type Range = readonly [from: number, to: number];

/** Places of single letters as parts of a text, whole graphemes each; those that touch are one. */
export function rangesOf(text: string, places: readonly number[]): Range[] {
  const ranges: [number, number][] = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    if (place >= text.length) break;
    const last = ranges.at(-1);
    if (last !== undefined && place < last[1]) continue;
    const end = boundaryFrom(text, place + 1);
    if (last !== undefined && last[1] === place) last[1] = end;
    else ranges.push([place, end]);
  }
  return ranges;
}

/** A text in its parts, in their order: within a range, or not. */
export function partsOf(text: string, ranges: readonly Range[]): { text: string; isWithin: boolean }[] {
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
