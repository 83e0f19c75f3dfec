import { quoteText } from "./text.ts";

/**
 * Finds the first number of a JSON text that `JSON.parse` would change: an integer with too many digits, or a number
 * that is too large.
 * @returns its offset and the value it would become; undefined if there is none
 */
export function findInexactNumber(json: string): { at: number; detail: string } | undefined {
  const token = /"|-?\d[\d.eE+-]*/g;
  const ending = /\\.|"/gs;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [text] = found;
    if (text !== '"') {
      if (isExact(text)) continue;
      const detail = `the number ${quoteText(text)} would become ${Number(text)}; write it as a string, in quotes`;
      return { at: found.index, detail };
    }
    ending.lastIndex = token.lastIndex;
    let end = ending.exec(json);
    while (end !== null && end[0] !== '"') end = ending.exec(json);
    token.lastIndex = end === null ? json.length : ending.lastIndex;
  }
  return undefined;
}

/** Fractions are approximate in every program. Whole numbers are not, and many are ids. */
function isExact(text: string): boolean {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return Number.isFinite(value);
  return text.length < 16 || (text.length < 400 && BigInt(text) === BigInt(value));
}
