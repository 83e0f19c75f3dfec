import type { ParseResult } from "../../../base/text.ts";
import { quoteText } from "../../../base/text.ts";

/** A part of a word: quoted text, an escaped character, or plain text. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
/** Characters with a meaning in a shell. */
const SHELL = /[|&;<>()$`*?[\]{}]|^[~#]/;

/**
 * Splits a command line into argv by quotes and backslashes only. Rejects shell syntax, which would otherwise be passed
 * on literally without notice.
 */
export function parseArgv(line: string): ParseResult<string[]> {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at += 1;
    if (at >= line.length) break;
    let word = "";
    while (at < line.length && !/\s/.test(line.charAt(at))) {
      PIECE.lastIndex = at;
      const piece = PIECE.exec(line);
      if (piece === null) return { fault: `${quoteText(line)} has a quote that is not closed` };
      const [all, single, double, escaped, plain] = piece;
      if (plain !== undefined && SHELL.test(plain)) return { fault: describeShellFault(line, plain) };
      if (double !== undefined && /[$`]/.test(double)) return { fault: describeShellFault(line, double) };
      word += single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "";
      at += all.length;
    }
    words.push(word);
  }
  return words.length === 0 ? { fault: `${quoteText(line)} is an empty command` } : { value: words };
}

function describeShellFault(line: string, part: string): string {
  return `${quoteText(line)} contains ${quoteText(part)}, which needs a shell; write ["sh", "-c", "..."], or put it in single quotes`;
}
