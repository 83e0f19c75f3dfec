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
    const parser = loadParser();
    const fault = parser && findJsonFault(text, parser);
    const where = fault && `: line ${fault.line}, column ${fault.column}: ${fault.what}`;
    throw new ConfigError(`${file} is not JSON${where ?? ""}`);
  }
  if (isJsonObject(value)) return value;
  throw new ConfigError(`${file} must contain a JSON object, such as ${example}`);
}

/** The parser is beside the bundle; when run from source, it is a package. */
const PARSERS = ["./modules/jsonc-parser.cjs", "jsonc-parser"];

/** Loads the package that finds the position. Without it, the message has no position. */
function loadParser(): JsonParser | undefined {
  const load = createRequire(import.meta.filename);
  for (const name of PARSERS) {
    try {
      return load(name);
    } catch {} // the next one
  }
  return undefined;
}
