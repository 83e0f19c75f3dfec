import { quoted } from "./text.ts";

/**
 * The first number of a JSON text that would not come out as it went in: a whole one of too many digits, one too large.
 * @returns where it begins, and what would become of it; undefined where there is none
 */
export function inexactNumber(json: string): { at: number; detail: string } | undefined {
  const token = /"|-?\d[\d.eE+-]*/g;
  const ending = /\\.|"/gs;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [text] = found;
    if (text !== '"') {
      if (isExact(text)) continue;
      const detail = `the number ${quoted(text)} would become ${Number(text)}; write it as a text, in quotes`;
      return { at: found.index, detail };
    }
    ending.lastIndex = token.lastIndex;
    let end = ending.exec(json);
    while (end !== null && end[0] !== '"') end = ending.exec(json);
    token.lastIndex = end === null ? json.length : ending.lastIndex;
  }
  return undefined;
}

/** Fractions are approximate in every program; whole numbers are not, and many are somebody's id. */
function isExact(text: string): boolean {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return Number.isFinite(value);
  return text.length < 16 || (text.length < 400 && BigInt(text) === BigInt(value));
}
