import { findInexactNumber } from "../../base/json-numbers.ts";
import { quoteText } from "../../base/text.ts";

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

const OPTIONS: readonly RubyOption[] = [
  { short: "e", long: "environment" },
  { short: "c", long: "config" },
  { short: "d", long: "delay", isInteger: true },
  { short: "t", long: "timezone" },
  { short: "s", long: "start", isInteger: true },
  { short: "a", long: "at", isInteger: true },
  { short: "I", long: "include", isRepeatable: true },
  { short: "r", long: "require", isRepeatable: true },
];

type OptionValues = ReadonlyMap<string, readonly string[]>;

/** Parses a perfectsched line. @param words  the words after `perfectsched` @param rails  RAILS_ENV */
export function parsePerfectschedLine(
  words: readonly string[],
  rails: string | undefined,
): PerfectschedLine | UsageMistake | { shows: "help" | "version" } {
  try {
    const { values, words: rest, shows } = parseRubyOptions(words, OPTIONS);
    if (shows !== undefined) return { shows };
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

/** An option of Ruby's OptionParser. All options of this tool have a value. */
interface RubyOption {
  short: string;
  long: string;
  isInteger?: true;
  isRepeatable?: true;
}

/** The parsed words of a line. */
interface ParsedRubyOptions {
  /** By long name, in the order given. */
  values: ReadonlyMap<string, readonly string[]>;
  /** Words that are not options. */
  words: readonly string[];
  /** `--help` or `--version`. Later words are ignored. */
  shows?: "help" | "version";
}

/** An invalid line. The message is that of OptionParser. */
class LineError extends Error {}

/**
 * Parses a line like OptionParser: options may be at any position up to `--`, a value may be joined to its option,
 * and a long name may be abbreviated.
 * @throws LineError
 */
function parseRubyOptions(argv: readonly string[], options: readonly RubyOption[]): ParsedRubyOptions {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") return { values, words: [...words, ...rest] };
    if (word === "-" || !word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const { name, inline } = word.startsWith("--")
      ? matchLongOption(word, options)
      : matchShortOption(word, options);
    if (name === "help" || name === "version") return { values, words, shows: name };
    const option = options.find((one) => one.long === name);
    if (option === undefined) throw new LineError(`invalid option: ${word}`);
    const value = inline ?? rest.shift();
    if (value === undefined) throw new LineError(`missing argument: ${word}`);
    const shown = inline === undefined ? `${word} ${value}` : word;
    const text = option.isInteger ? String(parseRubyInteger(value, shown)) : value;
    values.set(option.long, [...(values.get(option.long) ?? []), text]);
  }
  return { values, words };
}

/** The long name that a word matches, if any, and the value joined to it. */
interface MatchedOption {
  name: string | undefined;
  inline: string | undefined;
}

function matchShortOption(word: string, options: readonly RubyOption[]): MatchedOption {
  const [letter, inline] = [word.slice(1, 2), word.length > 2 ? word.slice(2) : undefined];
  const own = letter === "h" ? "help" : letter === "v" ? "version" : undefined;
  return { name: own ?? options.find((one) => one.short === letter)?.long, inline };
}

/** @throws LineError */
function matchLongOption(word: string, options: readonly RubyOption[]): MatchedOption {
  const at = word.indexOf("=");
  const given = word.slice(2, at < 0 ? undefined : at);
  const names = ["help", "version", ...options.map((one) => one.long)];
  const meant = names.includes(given) ? [given] : names.filter((name) => name.startsWith(given));
  if (meant.length > 1) throw new LineError(`ambiguous option: ${word}`);
  return { name: meant[0], inline: at < 0 ? undefined : word.slice(at + 1) };
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
