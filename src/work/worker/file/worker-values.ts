import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseDuration } from "../../../base/duration.ts";
import { isJsonObject } from "../../../base/parse-json.ts";
import { clean, type ParseResult } from "../../../base/text.ts";
import { type Hook, isHookUrl } from "../../../schedule/definition.ts";
import { isCount, isText } from "../../../schedule/json-fields.ts";
import { parseArgv } from "./argv.ts";
import { findPatternFault } from "./pattern.ts";
import { quoteValue } from "./source-document.ts";

// Parsers for values in a worker's file. Each returns the value, or a description of what is wrong.

export function parseHookValue(value: unknown): ParseResult<Hook> {
  if (!isText(value) || !/^https?:\/\//i.test(value)) return parseCommandValue(value);
  return isHookUrl(value) ? { value } : { fault: `${quoteValue(value)} is not a URL that can be called` };
}

export function parseTypeValue(value: unknown): ParseResult<string> {
  if (!isText(value) || value === "") return { fault: `${quoteValue(value)} is not a type` };
  const fault = findPatternFault(value);
  return fault === undefined ? { value } : { fault };
}

export function parseCommandValue(value: unknown): ParseResult<readonly string[]> {
  if (isText(value)) return parseArgv(value);
  const words = parseTextsValue(value);
  if ("fault" in words || words.value.length === 0 || words.value[0] === "")
    return { fault: `${quoteValue(value)} is neither a command line nor a list of words` };
  return words;
}

export function parseModuleValue(value: unknown, base: string): ParseResult<string> {
  if (!isText(value) || value === "") return { fault: `${quoteValue(value)} is not a path` };
  const path = resolve(base, value);
  return existsSync(path)
    ? { value: path }
    : { fault: `${quoteValue(value)} does not exist: ${clean(path)}` };
}

export function parseEnvValue(value: unknown): ParseResult<Record<string, string>> {
  const entries = isJsonObject(value) ? Object.entries(value) : undefined;
  if (entries === undefined) return { fault: `${quoteValue(value)} is not an object of strings` };
  const bad = entries.find(([name, text]) => !/^[^=\0]+$/.test(name) || !isText(text) || text.includes("\0"));
  if (bad !== undefined)
    return { fault: `${quoteValue(bad[0])} is not a variable with a string; put numbers in quotes` };
  return { value: Object.fromEntries(entries) as Record<string, string> };
}

export function parseDurationValue(value: unknown): ParseResult<number> {
  return isText(value)
    ? parseDuration(value)
    : { fault: `${quoteValue(value)} is not a duration such as 30s or 5m` };
}

export function parseSecondsValue(value: unknown): ParseResult<number> {
  if (typeof value === "number" && value >= 0 && value <= 1e9) return { value: Math.round(value * 1000) };
  return parseDurationValue(value);
}

export function parseCountValue(value: unknown): ParseResult<number> {
  return isCount(value) && value >= 1 && value <= 10_000
    ? { value }
    : { fault: `${quoteValue(value)} is not a whole number from 1 to 10000` };
}

export function parseFlagValue(value: unknown): ParseResult<boolean> {
  return typeof value === "boolean" ? { value } : { fault: `${quoteValue(value)} is neither true nor false` };
}

export function parseTextValue(value: unknown): ParseResult<string> {
  return isText(value) && value !== "" ? { value } : { fault: `${quoteValue(value)} is not a string` };
}

export function parseTextOrNumber(value: unknown): ParseResult<string> {
  return typeof value === "number" ? { value: String(value) } : parseTextValue(value);
}

export function parseTextsValue(value: unknown): ParseResult<readonly string[]> {
  return Array.isArray(value) && value.every(isText)
    ? { value }
    : { fault: `${quoteValue(value)} is not a list of strings` };
}
