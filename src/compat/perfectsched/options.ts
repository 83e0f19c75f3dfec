import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readEnvironments } from "../../cli/commands/schedule/sheets.ts";
import { type Call, CONNECTION_SETTINGS } from "../../cli/frame/command.ts";
import { type OptionFault, type OptionSyntax, parseToolWords } from "../../cli/syntax/getopt.ts";
import type { Millis } from "../../core/base/clock.ts";
import { ConfigError, describeFileError } from "../../core/base/errors.ts";
import { findInexactNumber } from "../../core/base/json-numbers.ts";
import { isJsonObject } from "../../core/base/parse-json.ts";
import { clean, findNearest, quoteText, quoteValue } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import type { Env, FileContent } from "../../core/config/files.ts";
import { getSetting, type SettingKey } from "../../core/config/settings.ts";
import { SourceDocument } from "../../core/config/source-document.ts";
import { readPlainFile } from "../front-end.ts";

export interface PerfectschedLine {
  environment: string;
  /** Path of the configuration file. */
  config: string;
  /** Folders in which `run` looks for files, and files to load. */
  includes: readonly string[];
  requires: readonly string[];
  command: PerfectschedCommand;
}

export type PerfectschedCommand =
  | { name: "list" }
  | { name: "init" }
  | { name: "delete"; key: string }
  | { name: "run"; class: string }
  | AddCommand;

/** Times in seconds, as in PerfectSched. */
export interface AddCommand {
  name: "add";
  key: string;
  /** Undefined for three words, the form of older versions, where the key also determined the type. */
  type: string | undefined;
  cron: string;
  data: Readonly<Record<string, unknown>>;
  delay: number;
  timezone: string | undefined;
  start: number | undefined;
  at: number | undefined;
}

/** A line that the tool answers with its usage text. `why` is undefined if there is no further message. */
interface UsageMistake {
  usage: true;
  why: string | undefined;
}

/** Like Ruby's OptionParser: options may be at any position up to `--`. */
const OPTION_SYNTAX: OptionSyntax = {
  tool: "perfectsched",
  isInterspersed: true,
  options: [
    "-e --environment ENV",
    "-c --config PATH",
    "-d --delay SEC",
    "-t --timezone NAME",
    "-s --start UNIXTIME",
    "-a --at UNIXTIME",
    "-I --include PATH",
    "-r --require PATH",
    "-h --help",
    "-v --version",
  ],
  createError: createOptionError,
};
const INTEGER_OPTIONS = ["delay", "start", "at"];

type OptionValues = ReadonlyMap<string, readonly string[]>;

/** Parses a perfectsched line. @param words  the words after `perfectsched` @param rails  RAILS_ENV */
export function parsePerfectschedLine(
  words: readonly string[],
  rails: string | undefined,
): PerfectschedLine | UsageMistake | { shows: "help" | "version" } {
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  try {
    for (const { name, value, source } of parseToolWords(words, OPTION_SYNTAX)) {
      if (name === "help" || name === "version") return { shows: name };
      if (name === undefined) rest.push(value);
      else {
        const text = INTEGER_OPTIONS.includes(name) ? String(parseRubyInteger(value, source)) : value;
        values.set(name, [...(values.get(name) ?? []), text]);
      }
    }
    const command = parseCommand(rest, values);
    if (command === undefined) return { usage: true, why: undefined };
    return {
      environment:
        getLast(values, "environment") ?? (rails === undefined || rails === "" ? "development" : rails),
      config: getLast(values, "config") ?? "config/perfectsched.yml",
      includes: values.get("include") ?? [],
      requires: values.get("require") ?? [],
      command,
    };
  } catch (error) {
    if (error instanceof LineError) return { usage: true, why: error.message };
    throw error;
  }
}

/** Returns undefined for too many or too few words. @throws LineError */
function parseCommand(words: readonly string[], values: OptionValues): PerfectschedCommand | undefined {
  const [name, first = "", ...rest] = words;
  const count = words.length - 1;
  switch (name) {
    case undefined:
      return undefined;
    case "list":
    case "init":
      return count === 0 ? { name } : undefined;
    case "delete":
      return count === 1 ? { name, key: first } : undefined;
    case "run":
      return count === 1 ? { name, class: first } : undefined;
    case "add":
      return count === 3 || count === 4 ? parseAddCommand(first, rest, values) : undefined;
    default:
      throw new LineError(`unknown command: '${name}'`);
  }
}

/** @param rest  `[TYPE] CRON DATA` */
function parseAddCommand(key: string, rest: readonly string[], values: OptionValues): AddCommand {
  const [data = "", cron = "", type] = [...rest].reverse();
  return {
    name: "add",
    key,
    type,
    cron,
    data: parseData(data),
    delay: getNumber(values, "delay") ?? 0,
    timezone: getLast(values, "timezone"),
    start: getNumber(values, "start"),
    at: getNumber(values, "at"),
  };
}

/** Parses the data. An empty text and null mean no data, as in the original. @throws LineError */
function parseData(text: string): Readonly<Record<string, unknown>> {
  const value = text.trim() === "" ? null : parseExactJson(text);
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new LineError(`data is not a JSON object: '${text}'`);
}

function parseExactJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineError(`data is not JSON: '${text}'`);
  }
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) throw new LineError(`data: ${inexact.detail}`);
  return value;
}

const getLast = (values: OptionValues, name: string): string | undefined => values.get(name)?.at(-1);

function getNumber(values: OptionValues, name: string): number | undefined {
  const text = getLast(values, name);
  return text === undefined ? undefined : Number(text);
}

/** An invalid line. The message is that of OptionParser. */
class LineError extends Error {}

function createOptionError({ kind, word }: OptionFault): LineError {
  if (kind === "no value") return new LineError(`missing argument: ${word}`);
  return new LineError(`${kind === "ambiguous" ? "ambiguous" : "invalid"} option: ${word}`);
}

const INTEGER =
  /^[-+]?(?:0x[\da-f]+(?:_[\da-f]+)*|0b[01]+(?:_[01]+)*|0o?[0-7]+(?:_[0-7]+)*|0|[1-9]\d*(?:_\d+)*)$/i;

/** Parses an integer like Ruby: also `0x1e`, `0b11`, `017`, `1_000`. @throws LineError */
function parseRubyInteger(text: string, shown: string): number {
  if (!INTEGER.test(text)) throw new LineError(`invalid argument: ${shown}`);
  const digits = text.replace(/^[-+]/, "").replaceAll("_", "");
  const value = Number(digits.replace(/^0o?(?=[0-7])/i, "0o"));
  if (!Number.isSafeInteger(value)) throw new LineError(`invalid argument: ${quoteText(shown)} is too large`);
  return text.startsWith("-") ? -value : value;
}

/** The configuration of one environment. */
export interface PerfectschedConfig {
  /** Connection settings, in the form of flags of signalbox commands. */
  settings: Call["settings"];
  /** The time zone of schedules that are added without one. */
  timezone: string | undefined;
  /** Path of the log file. */
  log: string | undefined;
  /** `inline`: the file contains the handlers itself. */
  handlers: { file: string } | "inline" | undefined;
  /** Wait before a task that requested a retry is started again. */
  retryWait: Millis | undefined;
  /** Keys that are read here. */
  keys: readonly string[];
  /** Notes for the user. */
  notes: readonly string[];
}

/** Keys of the original for its database table. */
const BACKEND_KEYS = ["type", "url", "table", "sslca"] as const;
const OWN_KEYS = [
  ...BACKEND_KEYS,
  "timezone",
  "log",
  "handlers",
  "retry_wait",
  ...CONNECTION_SETTINGS,
] as const;
/** Keys of workers that have a different effect here. A worker reports them itself if it reads the file. */
const WORKER_KEYS = ["poll_interval", "alive_time", "max_acquire"] as const;
const WORKER_FILE_KEYS = ["concurrency", "tags", "retryWait", "metrics", "hooks", "commands"] as const;

/**
 * Reads a configuration file keyed by environment.
 * @param env  signalbox variables: if they or the signalbox configuration name the endpoints, the file need not
 * @throws ConfigError naming file, line and key
 */
export function readPerfectschedConfig(file: string, environment: string, env: Env): PerfectschedConfig {
  const section = findSection(new SourceDocument(file, readConfigText(file)), environment);
  const getText = (key: string): string | undefined => {
    const value = section.fields[key] ?? undefined;
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    throw createKeyError(section, key, `${quoteValue(value)} is not a string`);
  };
  const { handlers } = section.fields;
  const settings = parseSettings(section);
  return {
    settings,
    timezone: getText("timezone"),
    log: getText("log"),
    handlers: Array.isArray(handlers)
      ? "inline"
      : typeof handlers === "string"
        ? { file: resolve(dirname(file), getText("handlers") ?? "") }
        : undefined,
    retryWait: parseRetryWait(section),
    keys: OWN_KEYS,
    notes: [...buildBackendNotes(section, settings, env), ...buildUnknownKeyNotes(section)],
  };
}

/** The part of a file for one environment. */
interface ConfigSection {
  sheet: SourceDocument;
  environment: string;
  fields: Readonly<Record<string, unknown>>;
}

function createKeyError({ sheet, environment }: ConfigSection, key: string, fault: string): ConfigError {
  return sheet.createError([environment, key], fault);
}

function readConfigText(file: string): string {
  let found: FileContent | undefined;
  try {
    found = readPlainFile(file);
  } catch (cause) {
    throw new ConfigError(`${clean(file)} cannot be read: ${describeFileError(cause)}`, { cause });
  }
  if (found === undefined)
    throw new ConfigError(`${clean(file)} does not exist; name the configuration with -c`);
  return found.text;
}

function findSection(sheet: SourceDocument, environment: string): ConfigSection {
  const { value, file } = sheet;
  const part = isJsonObject(value) && Object.hasOwn(value, environment) ? value[environment] : undefined;
  if (isJsonObject(part)) return { sheet, environment, fields: part };
  if (part !== undefined && part !== null)
    throw sheet.createError([environment], `${quoteValue(part)} is not a list of keys and values`);
  const names = isJsonObject(value) ? Object.keys(value).filter((name) => isJsonObject(value[name])) : [];
  const there = names.length === 0 ? "it has none" : `there are: ${clean(names.join(", "), 200)}`;
  throw new ConfigError(
    `${clean(file)} has no configuration for the environment ${quoteText(environment)} (-e, or RAILS_ENV); ${there}`,
  );
}

function parseRetryWait(section: ConfigSection): number | undefined {
  const { retry_wait: value } = section.fields;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= 0 && value < 1e8) return Math.round(value * 1000);
  throw createKeyError(section, "retry_wait", `${quoteValue(value)} is not a number of seconds`);
}

/**
 * Parses the connection settings. Errors found here name the line in the file; signalbox commands would name a flag.
 */
function parseSettings(section: ConfigSection): Call["settings"] {
  const settings: Partial<Record<SettingKey, string | boolean | readonly string[]>> = {};
  for (const key of CONNECTION_SETTINGS) {
    const value = section.fields[key] ?? undefined;
    if (value === undefined) continue;
    const { kind } = getSetting(key);
    const parsed = kind.parse(value);
    if ("fault" in parsed) throw createKeyError(section, key, parsed.fault);
    settings[key] =
      kind.isPath === true && typeof value === "string"
        ? resolve(dirname(section.sheet.file), value)
        : (value as string | boolean | readonly string[]);
  }
  return settings;
}

/** Builds notes about the database keys. @throws ConfigError if the file only names a database */
function buildBackendNotes(
  { sheet, environment, fields: { type, url } }: ConfigSection,
  settings: Call["settings"],
  env: Env,
): string[] {
  if (settings.endpoints !== undefined || type === "etcd") return [];
  const { sources, values } = resolveConfig({ env });
  const key = url === undefined || url === null ? "type" : "url";
  const isDatabase = (type ?? url ?? undefined) !== undefined;
  if (sources.endpoints !== "default")
    return isDatabase
      ? [
          `${clean(sheet.file)}: ${environment}: its ${key} names a database, which is not used: schedules are in etcd at ` +
            `${values.endpoints.join(", ")} (${sources.endpoints})`,
        ]
      : [];
  throw sheet.createError(
    isDatabase ? [environment, key] : [environment],
    `${isDatabase ? "it names a database, and schedules are in etcd here" : "it does not have the addresses of etcd"}` +
      '; add endpoints: ["http://HOST:2379"], or put type: etcd for the one on this host. Import the content of' +
      " the table with: signalbox import perfectsched FILE",
  );
}

/** Builds notes about unknown keys that resemble a known one. Other unknown keys are ignored, as in the original. */
function buildUnknownKeyNotes({ sheet, environment, fields }: ConfigSection): string[] {
  const known = [...OWN_KEYS, ...WORKER_KEYS, ...WORKER_FILE_KEYS];
  return Object.keys(fields).flatMap((key) => {
    const meant = (known as readonly string[]).includes(key) ? undefined : findNearest(key, known);
    if (meant === undefined) return [];
    return [
      `${clean(sheet.file)}: ${environment}: ${quoteText(key)} is an unknown key; did you mean ${meant}?`,
    ];
  });
}

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
