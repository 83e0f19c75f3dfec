import { createRequire } from "node:module";
import { ConfigError } from "../base/errors.ts";
import { findJsonFault, type JsonParser } from "../base/json-fault.ts";
import { isJsonObject } from "../base/parse-json.ts";

/**
 * Parses the JSON object of a configuration file.
 * @param file  the name of the file, for messages
 * @param example  an object that is allowed in the file
 * @throws ConfigError with the position of the first fault
 */
export function parseConfigObject(file: string, text: string, example: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the error of JSON.parse as the cause: its message quotes the text, which may contain a password.
    const parser: JsonParser = createRequire(import.meta.filename)("jsonc-parser");
    const unknown = { line: 1, column: 1, what: "it cannot be parsed" };
    const { line, column, what } = findJsonFault(text, parser) ?? unknown;
    throw new ConfigError(`${file} is not JSON: line ${line}, column ${column}: ${what}`);
  }
  if (isJsonObject(value)) return value;
  throw new ConfigError(`${file} must contain a JSON object, such as ${example}`);
}
