import { quotePosixWord } from "../../base/shell.ts";
import type { UnknownExpansion } from "../../syntax/shell-parser.ts";
import { UntranslatableError } from "./migration.ts";

/**
 * First mark character, and maximum number of marks. A mark replaces an expansion that only the shell can evaluate.
 */
const FIRST = 0xe001;
const MOST = 0x3fe;
const MARK = /[\ue001-\ue3ff]/g;
const SHIFTED = /[\ue401-\ue7ff]/g;

/** Whether a text contains characters that could be confused with marks. */
export function hasPrivateUseCharacters(text: string): boolean {
  return /[\ue000-\uf8ff]/.test(text);
}

/**
 * The expansions of a line that only the shell can evaluate. In the words, each is a mark character, which can be
 * converted back to its source.
 */
export class Markers {
  readonly #known: UnknownExpansion[] = [];

  /** @returns the mark character */
  add = (unknown: UnknownExpansion): string => {
    if (this.#known.length >= MOST) throw new UntranslatableError("it has too many variables");
    this.#known.push(unknown);
    return String.fromCharCode(FIRST + this.#known.length - 1);
  };

  get(mark: string): UnknownExpansion | undefined {
    return this.#known[mark.charCodeAt(0) - FIRST];
  }

  /** Replaces marks with their source text, for messages. */
  restoreSource(text: string): string {
    return text.replace(MARK, (mark) => this.get(mark)?.source ?? mark);
  }

  /**
   * Quotes a word for the shell, with expansions in double quotes. @throws UntranslatableError if that changes its
   * meaning
   */
  formatWord(word: string): string {
    if (!hasMark(word)) return quotePosixWord(word);
    const inner = [...word].map((char) => {
      const unknown = this.get(char);
      if (unknown === undefined) return /[\\"$`]/.test(char) ? `\\${char}` : char;
      if (unknown.kind === "pattern")
        throw new UntranslatableError(
          `${unknown.source} has a value that only the shell knows; write the value`,
        );
      if (unknown.source.startsWith("`") && unknown.source.includes('"'))
        throw new UntranslatableError(`write ${unknown.source} as $(...)`);
      return unknown.source;
    });
    return `"${inner.join("")}"`;
  }
}

export function hasMark(text: string): boolean {
  return text.search(MARK) >= 0;
}

/** Returns the marks in a text. */
export function listMarks(text: string): readonly string[] {
  return text.match(MARK) ?? [];
}

/**
 * Replaces marks with other ones. A result that depends on the value of an expansion then differs; one that passes it
 * on does not.
 */
export function shiftMarks(text: string): string {
  return text.replace(MARK, (mark) => String.fromCharCode(mark.charCodeAt(0) + 0x400));
}

export function unshiftMarks(text: string): string {
  return text.replace(SHIFTED, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0x400));
}
