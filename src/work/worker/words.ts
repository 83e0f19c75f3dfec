import type { Parsed } from "../../base/text.ts";
import { quoted } from "../../base/text.ts";

/** A piece of a word: what stands in quotes, behind a backslash, or plainly. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
/** What a shell would act on. */
const SHELL = /[|&;<>()$`*?[\]{}]|^[~#]/;

/**
 * A command line as argv, by quotes and backslashes alone. What only a shell understands is refused, since it would silently
 * mean something else.
 */
export function argvOf(line: string): Parsed<string[]> {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at += 1;
    if (at >= line.length) break;
    let word = "";
    while (at < line.length && !/\s/.test(line.charAt(at))) {
      PIECE.lastIndex = at;
      const piece = PIECE.exec(line);
      if (piece === null) return { fault: `${quoted(line)} has a quote that is not closed` };
      const [all, single, double, escaped, plain] = piece;
      if (plain !== undefined && SHELL.test(plain)) return { fault: forShell(line, plain) };
      if (double !== undefined && /[$`]/.test(double)) return { fault: forShell(line, double) };
      word += single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "";
      at += all.length;
    }
    words.push(word);
  }
  return words.length === 0 ? { fault: `${quoted(line)} is an empty command` } : { value: words };
}

function forShell(line: string, part: string): string {
  return `${quoted(line)} holds ${quoted(part)}, which takes a shell; write ["sh", "-c", "..."], or put it into single quotes`;
}
