import { isCount, isJsonObject, parseJson } from "../base/parse-json.ts";

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
