import type { CrontabFormat } from "../../syntax/crontab.ts";
import type { ToolFiles } from "../translated-run.ts";

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
