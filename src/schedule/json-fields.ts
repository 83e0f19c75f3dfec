import { isCount, isJsonObject, parseJson } from "../core/base/parse-json.ts";
import { clean } from "../core/base/text.ts";
import { NotSupportedError } from "./errors.ts";

/**
 * Fields of a JSON object. Values in etcd may be written by hand or by a later version, so each field is checked
 * separately.
 */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Parses the fields of a JSON object; returns undefined if the text is not a JSON object. */
export function parseJsonFields(text: string): JsonFields | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/**
 * Returns whether a value is a whole number of ms, as an instant since the epoch or a duration, within the range of a
 * Date.
 */
export function isMillis(value: unknown): value is number {
  return isCount(value) && value <= 8.64e15;
}

export const isText = (value: unknown): value is string => typeof value === "string";

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

/**
 * Checks that JSON preserves a value, so that a task receives exactly what was given.
 * @param name  name of the option, for the message
 * @returns a copy of the value
 * @throws NotSupportedError that names the path of a value that JSON drops or changes: `undefined`, `NaN`, `-0`, a
 *   `Map`, a `Date`, …
 */
export function toJsonData(name: string, given: unknown): unknown {
  return copy(given, name, new Set());
}

/** @param parents  the objects that contain the value, to detect cycles */
function copy(value: unknown, path: string, parents: Set<object>): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (typeof value !== "object") throw createNotSupportedError(path, value);
  if (parents.has(value))
    throw new NotSupportedError(`${path}: JSON cannot represent an object that contains itself`);
  if (!Array.isArray(value) && !isPlain(value)) throw createNotSupportedError(path, value);
  parents.add(value);
  const result = Array.isArray(value) ? copyItems(value, path, parents) : copyFields(value, path, parents);
  parents.delete(value);
  return result;
}

/** Copies the items of a list. A hole reads as undefined and is refused. */
function copyItems(list: readonly unknown[], path: string, parents: Set<object>): unknown[] {
  return Array.from(list, (item, index) => copy(item, `${path}[${index}]`, parents));
}

function copyFields(fields: object, path: string, parents: Set<object>): object {
  const entries = Object.entries(fields).map(([key, value]) => [key, copy(value, `${path}.${key}`, parents)]);
  return Object.fromEntries(entries);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  const isObject = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isObject && !("toJSON" in value) && Object.getOwnPropertySymbols(value).length === 0;
}

function createNotSupportedError(path: string, value: unknown): NotSupportedError {
  return new NotSupportedError(`${clean(path, 200)}: JSON cannot represent ${describe(value)}`);
}

function describe(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "object" && value !== null) {
    const { name = "" } = value.constructor ?? {};
    return `a ${clean(name === "" || name === "Object" ? "special object" : name, 60)}`;
  }
  if (typeof value === "function") return "a function";
  return clean(typeof value === "bigint" ? `${value}n` : String(value), 60);
}
