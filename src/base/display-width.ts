import stringWidth from "string-width";
import { clean, stripStyles } from "./text.ts";

/** Finds the characters as people see them, such as letters with accents and flags. */
export const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters of one column that do not combine with others: Latin, Greek, Cyrillic, punctuation, arrows, lines, signs. */
const NARROW =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0391-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u2190-\u22ff\u2500-\u25fc\u2713]*$/;

/**
 * Computes the terminal columns of a cleaned text: 2 for East Asian wide characters and emoji, 0 for accents. Ink
 * measures by the same package.
 */
export function computeDisplayWidth(text: string): number {
  // Finding graphemes takes ten times as long as this test, which is true for most texts.
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Computes the terminal columns of a text with SGR sequences. */
export function computeStyledWidth(text: string): number {
  return computeDisplayWidth(stripStyles(text));
}

/**
 * Cleans a text, as `clean` does, and cuts it to a width.
 * @param columns  maximum width of the result, in terminal columns; a longer text is cut and ends in `…`
 */
export function cleanToWidth(text: string, columns = Number.POSITIVE_INFINITY): string {
  const shown = clean(text);
  if (shown.length * 2 <= columns) return shown;
  if (columns < 1) return "";
  if (NARROW.test(shown)) return shown.length <= columns ? shown : `${shown.slice(0, columns - 1)}…`;
  let width = 0;
  let kept = ""; // what fits beside the ellipsis
  for (const { segment } of graphemes.segment(shown)) {
    width += computeDisplayWidth(segment);
    if (width > columns) return `${kept}…`;
    if (width < columns) kept += segment;
  }
  return shown;
}

/** Splits a text into graphemes, in order. */
export function splitGraphemes(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
