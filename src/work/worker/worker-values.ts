import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseDuration } from "../../base/duration.ts";
import { clean, type Parsed } from "../../base/text.ts";
import { type Hook, isHookUrl } from "../../schedule/definition.ts";
import { isCount, isFields, isText } from "../../schedule/fields.ts";
import { patternFault } from "./pattern.ts";
import { shown } from "./sheet.ts";
import { argvOf } from "./words.ts";

// Values of a worker's file: each is read, or it is said what is wrong with it.

export function hookOf(value: unknown): Parsed<Hook> {
  if (!isText(value) || !/^https?:\/\//i.test(value)) return commandOf(value);
  return isHookUrl(value) ? { value } : { fault: `${shown(value)} is no URL that could be called` };
}

export function typeText(value: unknown): Parsed<string> {
  if (!isText(value) || value === "") return { fault: `${shown(value)} is not a type` };
  const fault = patternFault(value);
  return fault === undefined ? { value } : { fault };
}

export function commandOf(value: unknown): Parsed<readonly string[]> {
  if (isText(value)) return argvOf(value);
  const words = textsOf(value);
  if ("fault" in words || words.value.length === 0 || words.value[0] === "")
    return { fault: `${shown(value)} is neither a command line nor a list of words` };
  return words;
}

export function moduleOf(value: unknown, base: string): Parsed<string> {
  if (!isText(value) || value === "") return { fault: `${shown(value)} is not a path` };
  const path = resolve(base, value);
  return existsSync(path) ? { value: path } : { fault: `${shown(value)} does not exist: ${clean(path)}` };
}

export function envOf(value: unknown): Parsed<Record<string, string>> {
  const entries = isFields(value) ? Object.entries(value) : undefined;
  if (entries === undefined) return { fault: `${shown(value)} is not an object of texts` };
  const bad = entries.find(([name, text]) => !/^[^=\0]+$/.test(name) || !isText(text) || text.includes("\0"));
  if (bad !== undefined)
    return { fault: `${shown(bad[0])} is not a variable with a text; put numbers into quotes` };
  return { value: Object.fromEntries(entries) as Record<string, string> };
}

export function durationOf(value: unknown): Parsed<number> {
  return isText(value)
    ? parseDuration(value)
    : { fault: `${shown(value)} is not a duration such as 30s or 5m` };
}

export function secondsOf(value: unknown): Parsed<number> {
  if (typeof value === "number" && value >= 0 && value <= 1e9) return { value: Math.round(value * 1000) };
  return durationOf(value);
}

export function countOf(value: unknown): Parsed<number> {
  return isCount(value) && value >= 1 && value <= 10_000
    ? { value }
    : { fault: `${shown(value)} is not a whole number from 1 to 10000` };
}

export function flagOf(value: unknown): Parsed<boolean> {
  return typeof value === "boolean" ? { value } : { fault: `${shown(value)} is neither true nor false` };
}

export function textValue(value: unknown): Parsed<string> {
  return isText(value) && value !== "" ? { value } : { fault: `${shown(value)} is not a text` };
}

export function textOrNumber(value: unknown): Parsed<string> {
  return typeof value === "number" ? { value: String(value) } : textValue(value);
}

export function textsOf(value: unknown): Parsed<readonly string[]> {
  return Array.isArray(value) && value.every(isText)
    ? { value }
    : { fault: `${shown(value)} is not a list of texts` };
}
