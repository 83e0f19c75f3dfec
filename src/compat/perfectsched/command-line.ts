import { findInexactNumber } from "../../base/json-numbers.ts";
import { quoteText } from "../../base/text.ts";
import { type OptionFault, type OptionSyntax, parseToolWords } from "../../syntax/getopt.ts";

/** A parsed perfectsched line. */
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
const SYNTAX: OptionSyntax = {
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
const INTEGERS = ["delay", "start", "at"];

type OptionValues = ReadonlyMap<string, readonly string[]>;

/** Parses a perfectsched line. @param words  the words after `perfectsched` @param rails  RAILS_ENV */
export function parsePerfectschedLine(
  words: readonly string[],
  rails: string | undefined,
): PerfectschedLine | UsageMistake | { shows: "help" | "version" } {
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  try {
    for (const { name, value, source } of parseToolWords(words, SYNTAX)) {
      if (name === "help" || name === "version") return { shows: name };
      if (name === undefined) rest.push(value);
      else {
        const text = INTEGERS.includes(name) ? String(parseRubyInteger(value, source)) : value;
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
