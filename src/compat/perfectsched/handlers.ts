import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import { environmentsOf } from "../../commands/schedule/sheets.ts";
import type { Setup } from "./config.ts";
import type { Line } from "./line.ts";

/** The file of handlers that a worker is started with. */
export interface Handlers {
  file: string;
  /** Undefined where the file is not keyed by environment. */
  environment: string | undefined;
  notes: readonly string[];
}

const DATA_FILE = /\.(ya?ml|json)$/i;

/**
 * What `run CLASS` means here: a file of that name; a file that -r names; what the configuration says under `handlers`.
 * @throws ConfigError where there is none of these
 */
export function handlersFor(line: Line, name: string, setup: Setup): Handlers {
  const named = [name, ...line.requires].find((word) => DATA_FILE.test(word));
  const file = named === undefined ? configured(line, setup) : lookedUp(line, named);
  if (file === undefined) throw nothingFor(line, name);
  const names = environmentsOf(file);
  const isKnown = named === name || names?.includes(name) === true;
  return {
    file,
    environment: names === undefined ? undefined : names.includes(name) ? name : line.environment,
    notes: isKnown ? [] : [rubyNote(line, name, file)],
  };
}

/** A file, here or in a folder of -I. */
function lookedUp({ includes }: Line, name: string): string {
  const found = [resolve(name), ...includes.map((folder) => join(resolve(folder), name))].find(isFile);
  if (found !== undefined) return found;
  const where = includes.length === 0 ? "here; -I says where else to look" : "here or in a folder of -I";
  throw new ConfigError(`${clean(name)} does not exist ${where}`);
}

function configured({ config }: Line, { handlers }: Setup): string | undefined {
  if (handlers === "inline" || handlers === undefined) return handlers && config;
  if (isFile(handlers.file)) return handlers.file;
  throw new ConfigError(
    `${clean(handlers.file)} does not exist; ${clean(config)} names it under handlers (a path is relative to that file)`,
  );
}

function rubyNote({ requires }: Line, name: string, file: string): string {
  const ruby = requires.filter((word) => !DATA_FILE.test(word)).map((word) => clean(word));
  const passed = ruby.length === 0 ? "" : ` (as are ${ruby.join(", ")})`;
  return `${clean(name)} is taken for a class of Ruby${passed}, which cannot run here; the handlers of ${clean(file)} do its work`;
}

/** What may not be looked at is there: reading it tells more. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return true;
  }
}

function nothingFor({ config, environment }: Line, name: string): ConfigError {
  return new ConfigError(
    `${quoted(name)} is no file of handlers, and Ruby's classes cannot run here. Write a file that says which command runs which` +
      " type, such as handlers.yml:\n" +
      '  handlers:\n    - { type: "/./", command: ["ruby", "-Ilib", "run_task.rb"] }\n' +
      "The command gets the task as a line of JSON on its standard input (id, type, scheduledTime, data), exits 0 when it is" +
      ` done and 75 to be tried again. Name the file in ${clean(config)}, ${clean(environment)}, as handlers: handlers.yml,` +
      " or instead of the class; see docs/migrate/perfectsched.md",
  );
}
