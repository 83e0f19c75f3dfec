import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { readEnvironments } from "../../commands/schedule/sheets.ts";
import type { PerfectschedLine } from "./command-line.ts";
import type { PerfectschedConfig } from "./config.ts";

/** The handlers file for a worker. */
interface HandlerFile {
  file: string;
  /** Undefined if the file is not keyed by environment. */
  environment: string | undefined;
  notes: readonly string[];
}

const DATA_FILE = /\.(ya?ml|json)$/i;

/**
 * Finds the handlers file for `run CLASS`: a file of that name, a file given with -r, or the one that the
 * configuration names under `handlers`.
 * @throws ConfigError if there is none
 */
export function findHandlerFile(
  line: PerfectschedLine,
  name: string,
  setup: PerfectschedConfig,
): HandlerFile {
  const named = [name, ...line.requires].find((word) => DATA_FILE.test(word));
  const file = named === undefined ? getConfiguredFile(line, setup) : resolveHandlerPath(line, named);
  if (file === undefined) throw createMissingHandlersError(line, name);
  const names = readEnvironments(file);
  const isKnown = named === name || names?.includes(name) === true;
  return {
    file,
    environment: names === undefined ? undefined : names.includes(name) ? name : line.environment,
    notes: isKnown ? [] : [formatRubyNote(line, name, file)],
  };
}

/** Resolves a file in the current folder or in a folder given with -I. */
function resolveHandlerPath({ includes }: PerfectschedLine, name: string): string {
  const found = [resolve(name), ...includes.map((folder) => join(resolve(folder), name))].find(isFile);
  if (found !== undefined) return found;
  const where = includes.length === 0 ? "here; name other folders with -I" : "here or in a folder of -I";
  throw new ConfigError(`${clean(name)} does not exist ${where}`);
}

function getConfiguredFile(
  { config }: PerfectschedLine,
  { handlers }: PerfectschedConfig,
): string | undefined {
  if (handlers === "inline" || handlers === undefined) return handlers && config;
  if (isFile(handlers.file)) return handlers.file;
  throw new ConfigError(
    `${clean(handlers.file)} does not exist; ${clean(config)} names it under handlers (a path is relative to that file)`,
  );
}

function formatRubyNote({ requires }: PerfectschedLine, name: string, file: string): string {
  const ruby = requires.filter((word) => !DATA_FILE.test(word)).map((word) => clean(word));
  const passed = ruby.length === 0 ? "" : ` (as are ${ruby.join(", ")})`;
  return `${clean(name)} is treated as a class of Ruby${passed}, which cannot run here; the handlers of ${clean(file)} are used instead`;
}

/** Whether a path is a file. If it cannot be examined, returns true, because reading it gives a better error. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return true;
  }
}

function createMissingHandlersError({ config, environment }: PerfectschedLine, name: string): ConfigError {
  return new ConfigError(
    `${quoteText(name)} is not a file of handlers, and classes of Ruby cannot run here. Write a file with a command for each` +
      " type, such as handlers.yml:\n" +
      '  handlers:\n    - { type: "/./", command: ["ruby", "-Ilib", "run_task.rb"] }\n' +
      "The command gets the task as a line of JSON on its standard input (id, type, scheduledTime, data), exits 0 when it is" +
      ` done and 75 to be tried again. Name the file in ${clean(config)}, ${clean(environment)}, as handlers: handlers.yml,` +
      " or instead of the class; see docs/migrate/perfectsched.md",
  );
}
