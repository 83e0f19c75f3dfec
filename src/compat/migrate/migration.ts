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
