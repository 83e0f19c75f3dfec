import { statSync } from "node:fs";
import { resolveConfig } from "../core/config/config.ts";
import { type Env, type FileReader, readFileWithMode } from "../core/config/files.ts";
import type { ConfigLayer } from "../core/config/layers.ts";

/** A line of another tool, translated to `signalbox run`. */
export interface TranslatedRun {
  /**
   * Words after `signalbox run`, before `--`: `["--lock", "cronlock.5f…", "--grace", "40s"]`. Settings are flags
   * where a flag exists.
   */
  options: readonly string[];
  /** Variables that the line needs and that have no flag (passwords), by name. */
  env?: Readonly<Record<string, string>>;
  command: readonly string[];
  /** Changes in meaning, one sentence each, for warnings about the line. */
  notes: readonly string[];
  /** The tool keeps its lock until all processes that the command left behind have ended; signalbox does not. */
  coversChildren?: boolean;
}

/** Texts of the tools' own configuration files, by path. */
export type ToolFiles = Pick<ReadonlyMap<string, string>, "get">;

/** What a tool gets besides its words. */
export interface ToolContext {
  /** Environment variables, by name. */
  variables: ReadonlyMap<string, string>;
  files: ToolFiles;
  /** The tool as it is called, with its path. */
  program: string;
}

/**
 * Translates a line of a tool to `signalbox run`. Pure: files are passed as text, by path.
 * @param words  the words after the tool's name
 * @throws UsageError, ConfigError if the tool would refuse the line
 */
export type LineTranslator = (words: readonly string[], context: ToolContext) => TranslatedRun;

/**
 * Whether the signalbox configuration names endpoints, so that the address of another tool's server is not needed.
 */
export function hasEndpoints(env: Env, options?: ConfigLayer): boolean {
  return resolveConfig({ env, ...(options && { options }) }).sources.endpoints !== "default";
}

/** Formats local time as the logs of other tools: `2026/11/21 05:31:02`. @param separator  of the parts of the day */
export function formatLogTime(at: Date, separator: "/" | "-"): string {
  const padTwoDigits = (part: number) => String(part).padStart(2, "0");
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(padTwoDigits).join(separator);
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(padTwoDigits).join(":")}`;
}

/** Maximum size of a configuration file, in bytes. A longer file is not one. */
const MAX_FILE_BYTES = 1_000_000;

/**
 * Reads a configuration file. Refuses pipes and devices: they might never end, and cron would start another run every
 * minute.
 */
export const readPlainFile: FileReader = (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  const isEndless = stat?.isFIFO() || stat?.isCharacterDevice() || stat?.isBlockDevice();
  if (isEndless && path !== "/dev/null") throw createFileError("it is not a file");
  if (stat !== undefined && stat.size > MAX_FILE_BYTES) throw createFileError("it is too long");
  return readFileWithMode(path);
};

function createFileError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
