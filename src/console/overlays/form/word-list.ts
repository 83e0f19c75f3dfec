import { quotePosixWord } from "../../../base/shell.ts";

/** Joins words into one line that `parseWordList` can split again. Quotes words where needed. */
export function formatWordList(words: readonly string[]): string {
  return words.map((word) => (/^[^\s'"\\]+$/u.test(word) ? word : quotePosixWord(word))).join(" ");
}

// An unclosed quote extends to the end, because the user may still be typing.
const PART = /'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|\\?$)|\\(.)|\\$|([^\s'"\\]+)/gsu;
/** Adjacent parts form one word. */
const WORD = /(?:'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|\\.|\\$|[^\s'"\\])+/gsu;

/** Splits a line into words as a shell does: by spaces, with quotes and backslashes. Never throws. */
export function parseWordList(line: string): string[] {
  return Array.from(line.matchAll(WORD), ([word]) =>
    word.replace(PART, (_, single?: string, double?: string, escaped?: string, bare?: string) => {
      return single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "";
    }),
  );
}
