import { inexactNumber } from "../../base/json-numbers.ts";
import { LineError, type Option, parseOptions } from "./options.ts";

/** What one line of perfectsched asks for. */
export interface Line {
  environment: string;
  /** A path. */
  config: string;
  /** Folders in which `run` looks for files, and files it is to read. */
  includes: readonly string[];
  requires: readonly string[];
  order: Order;
}

export type Order =
  | { name: "list" }
  | { name: "init" }
  | { name: "delete"; key: string }
  | { name: "run"; class: string }
  | Add;

/** Times in seconds, as the tool has them. */
export interface Add {
  name: "add";
  key: string;
  /** Undefined on a line of three words, as versions wrote it in which the key alone told the type. */
  type: string | undefined;
  cron: string;
  data: Readonly<Record<string, unknown>>;
  delay: number;
  timezone: string | undefined;
  start: number | undefined;
  at: number | undefined;
}

/** A line to which the tool answers with its usage. `why` is undefined where it says nothing more. */
export interface Misuse {
  usage: true;
  why: string | undefined;
}

export const OPTIONS: readonly Option[] = [
  { short: "e", long: "environment" },
  { short: "c", long: "config" },
  { short: "d", long: "delay", isInteger: true },
  { short: "t", long: "timezone" },
  { short: "s", long: "start", isInteger: true },
  { short: "a", long: "at", isInteger: true },
  { short: "I", long: "include", isRepeatable: true },
  { short: "r", long: "require", isRepeatable: true },
];

type Values = ReadonlyMap<string, readonly string[]>;

/** @param words  behind `perfectsched`. @param rails  RAILS_ENV */
export function parseLine(
  words: readonly string[],
  rails: string | undefined,
): Line | Misuse | { shows: "help" | "version" } {
  try {
    const { values, words: rest, shows } = parseOptions(words, OPTIONS);
    if (shows !== undefined) return { shows };
    const order = orderOf(rest, values);
    if (order === undefined) return { usage: true, why: undefined };
    return {
      environment:
        last(values, "environment") ?? (rails === undefined || rails === "" ? "development" : rails),
      config: last(values, "config") ?? "config/perfectsched.yml",
      includes: values.get("include") ?? [],
      requires: values.get("require") ?? [],
      order,
    };
  } catch (error) {
    if (error instanceof LineError) return { usage: true, why: error.message };
    throw error;
  }
}

/** Undefined where there are too many words or too few. @throws LineError */
function orderOf(words: readonly string[], values: Values): Order | undefined {
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
      return count === 3 || count === 4 ? addOf(first, rest, values) : undefined;
    default:
      throw new LineError(`unknown command: '${name}'`);
  }
}

/** @param rest  `[TYPE] CRON DATA` */
function addOf(key: string, rest: readonly string[], values: Values): Add {
  const [data = "", cron = "", type] = [...rest].reverse();
  return {
    ...{ name: "add", key, type, cron, data: dataOf(data) },
    delay: number(values, "delay") ?? 0,
    timezone: last(values, "timezone"),
    ...{ start: number(values, "start"), at: number(values, "at") },
  };
}

/** Nothing and null are no data, as in the original. @throws LineError */
function dataOf(text: string): Readonly<Record<string, unknown>> {
  const value = text.trim() === "" ? null : jsonOf(text);
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new LineError(`data is not a JSON object: '${text}'`);
}

function jsonOf(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineError(`data is not JSON: '${text}'`);
  }
  const inexact = inexactNumber(text);
  if (inexact !== undefined) throw new LineError(`data: ${inexact.detail}`);
  return value;
}

const last = (values: Values, name: string): string | undefined => values.get(name)?.at(-1);

function number(values: Values, name: string): number | undefined {
  const text = last(values, name);
  return text === undefined ? undefined : Number(text);
}
