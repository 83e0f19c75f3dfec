import { eastAsianWidth } from "get-east-asian-width";
import { clean, stripStyles } from "./text.ts";

/**
 * Cleans a text, as `clean` does, and cuts it to a width.
 * @param columns  maximum width of the result, in terminal columns; a longer text is cut and ends in `…`
 */
export function cleanToWidth(text: string, columns = Number.POSITIVE_INFINITY): string {
  const shown = clean(text);
  if (shown.length * 2 <= columns || computeDisplayWidth(shown) <= columns) return shown;
  let width = 1; // the ellipsis
  let kept = "";
  for (const char of shown) {
    width += computeDisplayWidth(char);
    if (width > columns) break;
    kept += char;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** Computes the terminal columns of a cleaned text: 2 for East Asian wide characters and emoji, 0 for accents. */
export function computeDisplayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text)
    width += /^[\p{Mn}\p{Me}]$/u.test(char) ? 0 : eastAsianWidth(char.codePointAt(0) ?? 0);
  return width;
}

/** Computes the terminal columns of a text with SGR sequences. */
export function computeStyledWidth(text: string): number {
  return computeDisplayWidth(stripStyles(text));
}
