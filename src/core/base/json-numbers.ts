import { createScanner } from "jsonc-parser";
import { quoteText } from "./text.ts";

/**
 * Finds the first number of a JSON text that `JSON.parse` would change: an integer with too many digits, or a number
 * that is too large.
 * @returns its offset and the value it would become; undefined if there is none
 */
export function findInexactNumber(json: string): { at: number; detail: string } | undefined {
  const scanner = createScanner(json, true);
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const at = scanner.getTokenOffset();
    const text = scanner.getTokenValue();
    if (!/[-\d]/.test(json.charAt(at)) || isExact(text)) continue;
    const detail = `the number ${quoteText(text)} would become ${Number(text)}; write it as a string, in quotes`;
    return { at, detail };
  }
  return undefined;
}

/** Fractions are approximate in every program. Whole numbers are not, and many are ids. */
function isExact(text: string): boolean {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return Number.isFinite(value);
  return text.length < 16 || (text.length < 400 && BigInt(text) === BigInt(value));
}
