import type { CrontabFormat } from "../../syntax/crontab.ts";

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

export interface MigrationOptions {
  format: CrontabFormat;
  /** Also put lines without a tool behind a lock. */
  plain: boolean;
  /** The program that the new lines call. */
  program: string;
  /** The tools' own configuration files, by path. */
  files: ReadonlyMap<string, string>;
  /** Put `signalbox run` around the tools instead of replacing them. */
  around?: boolean;
  /** Leave out server addresses and logins of the tools. */
  noConnection?: boolean;
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

/** The command of a crontab line as the shell receives it, and the offset of each character in the line. */
export interface DecodedCommand {
  text: string;
  /** Has one more element than the text has characters. */
  offsets: readonly number[];
}

/**
 * Decodes the command up to the first bare `%`; `\%` is a percent sign. @param from  start of the command in the line
 */
export function decodeCommand(line: string, from: number): DecodedCommand {
  const places: number[] = [];
  let text = "";
  let at = from;
  for (; at < line.length && line[at] !== "%"; at += 1) {
    places.push(at);
    if (line.startsWith("\\%", at)) at += 1;
    text += line[at] ?? "";
  }
  return { text, offsets: [...places, at] };
}

/**
 * Applies edits to a line. @param edits  positions in the decoded text; they do not overlap @throws
 * UntranslatableError
 */
export function applyEdits(line: string, { offsets }: DecodedCommand, edits: readonly TextEdit[]): string {
  let result = line;
  for (const { start, end, text } of [...edits].sort((a, b) => b.start - a.start || b.end - a.end)) {
    if (/[\0\n\r]/.test(text))
      throw new UntranslatableError(
        "a value contains a line break, which a line of a crontab cannot contain",
      );
    const [from, to] = [offsets[start] ?? line.length, offsets[end] ?? line.length];
    result = result.slice(0, from) + text.replaceAll("%", "\\%") + result.slice(to);
  }
  return result;
}
