import type { CrontabFormat } from "../../cli/syntax/crontab.ts";
import type { UnknownExpansion } from "../../cli/syntax/shell-parser.ts";
import { quotePosixWord } from "../../core/base/shell.ts";
import type { ToolFiles } from "../front-end.ts";

/** The result for a line that uses a lock tool. */
export interface LineReport {
  /** From 1. */
  line: number;
  before: string;
  /** The same as `before` if nothing was changed. */
  after: string;
  /** Tools whose words were translated; empty for a plain line. */
  tools: readonly string[];
  /** Changes in meaning. */
  notes: readonly string[];
  /** Why the line stays as it is although it uses a tool. */
  reason?: string;
}

export interface Migration {
  /** The text of the whole crontab. */
  text: string;
  /** Lines that change, that cannot be translated, or that have notes. */
  lines: readonly LineReport[];
}

/** How lines are rewritten. */
export interface RewriteOptions {
  /** The program that the new lines call. */
  program: string;
  files: ToolFiles;
  /** Put `signalbox run` around the tools, which keep their locks: both are held while hosts are migrated. */
  around?: boolean;
  /** Leave the server addresses and logins of the tools to signalbox's own configuration. */
  noConnection?: boolean;
}

export interface MigrationOptions extends RewriteOptions {
  format: CrontabFormat;
  /** Also put lines without a tool behind a lock. */
  plain: boolean;
}

/** Thrown for a line that stays as it is. The message is for the owner of the line. */
export class UntranslatableError extends Error {}

/** A replacement of a part of a text. */
export interface TextEdit {
  start: number;
  /** Index after the part. */
  end: number;
  text: string;
}

/**
 * Applies edits to the command of a line. @param edits  positions in the command as the shell receives it; they do not
 * overlap @throws UntranslatableError
 */
export function applyEdits(line: string, start: number, edits: readonly TextEdit[]): string {
  const offsets = listOffsets(line, start);
  let result = line;
  for (const edit of [...edits].sort((a, b) => b.start - a.start || b.end - a.end)) {
    if (/[\0\n\r]/.test(edit.text))
      throw new UntranslatableError(
        "a value contains a line break, which a line of a crontab cannot contain",
      );
    const [from, to] = [offsets[edit.start] ?? line.length, offsets[edit.end] ?? line.length];
    result = result.slice(0, from) + edit.text.replaceAll("%", "\\%") + result.slice(to);
  }
  return result;
}

/** Lists the index in the line of each character that the shell receives, and of the end. */
function listOffsets(line: string, start: number): number[] {
  const [command = ""] = line.slice(start).split(/(?<!\\)%/, 1);
  const characters = [...command.matchAll(/\\%|./gs)].map(({ index }) => start + index);
  return [...characters, start + command.length];
}

/**
 * First mark character, and maximum number of marks. A mark replaces an expansion that only the shell can evaluate.
 */
const FIRST_MARK = 0xe001;
const MAX_MARKS = 0x3fe;
const MARK = /[\ue001-\ue3ff]/g;
const SHIFTED_MARK = /[\ue401-\ue7ff]/g;

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
    if (this.#known.length >= MAX_MARKS) throw new UntranslatableError("it has too many variables");
    this.#known.push(unknown);
    return String.fromCharCode(FIRST_MARK + this.#known.length - 1);
  };

  get(mark: string): UnknownExpansion | undefined {
    return this.#known[mark.charCodeAt(0) - FIRST_MARK];
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
  return text.replace(SHIFTED_MARK, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0x400));
}
