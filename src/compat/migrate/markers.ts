import { shellWord } from "../../base/shell.ts";
import type { Unknown } from "../../fleet/shell-words.ts";
import { Refusal } from "./refusal.ts";

/** First of the characters that stand for what only the shell knows, and how many there are of them. */
const FIRST = 0xe001;
const MOST = 0x3fe;
const MARK = /[\ue001-\ue3ff]/g;
const SHIFTED = /[\ue401-\ue7ff]/g;

/** Whether a text holds characters that could be taken for ours. */
export function holdsMarks(text: string): boolean {
  return /[\ue000-\uf8ff]/.test(text);
}

/** The parts of a line that only the shell knows: each is a character in the words, and can be written as it stood there. */
export class Markers {
  readonly #known: Unknown[] = [];

  /** @returns the character that stands for it */
  add = (unknown: Unknown): string => {
    if (this.#known.length >= MOST) throw new Refusal("it has too many variables");
    this.#known.push(unknown);
    return String.fromCharCode(FIRST + this.#known.length - 1);
  };

  of(mark: string): Unknown | undefined {
    return this.#known[mark.charCodeAt(0) - FIRST];
  }

  /** A text with everything as it was written: for messages. */
  written(text: string): string {
    return text.replace(MARK, (mark) => this.of(mark)?.source ?? mark);
  }

  /** A word as the shell reads it back, expansions in double quotes. @throws Refusal where that changes its meaning */
  word(word: string): string {
    if (!hasMark(word)) return shellWord(word);
    const inner = [...word].map((char) => {
      const unknown = this.of(char);
      if (unknown === undefined) return /[\\"$`]/.test(char) ? `\\${char}` : char;
      if (unknown.kind === "pattern")
        throw new Refusal(`${unknown.source} stands for what only the shell knows; write it out`);
      if (unknown.source.startsWith("`") && unknown.source.includes('"'))
        throw new Refusal(`write ${unknown.source} as $(...)`);
      return unknown.source;
    });
    return `"${inner.join("")}"`;
  }
}

export function hasMark(text: string): boolean {
  return text.search(MARK) >= 0;
}

/** Marks of a text. */
export function marksIn(text: string): readonly string[] {
  return text.match(MARK) ?? [];
}

/** The same text with other marks: what depends on their values comes out otherwise, what passes them on does not. */
export function shifted(text: string): string {
  return text.replace(MARK, (mark) => String.fromCharCode(mark.charCodeAt(0) + 0x400));
}

export function unshifted(text: string): string {
  return text.replace(SHIFTED, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0x400));
}
