import { Script } from "node:vm";
import * as v from "valibot";
import { isJsonObject } from "../../core/base/parse-json.ts";
import { isUnknownKey, quoteInput } from "../../core/base/schema.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";
import { createTypeMatcher } from "../../schedule/handler-types.ts";
import { isText, type JsonFields } from "../../schedule/json-fields.ts";

interface FieldsOptions {
  /** The message if a required key is missing. */
  missing?: string;
  /** Further keys, whose values are not read. */
  ignored?: readonly string[];
  /** Keys that need a value if they are there. */
  filled?: readonly string[];
}

/** Creates the schema of an object. A key without a value, which YAML reads as null, counts as missing. */
export function createFields<E extends v.ObjectEntries>(
  entries: E,
  { missing = "", ignored = [], filled = [] }: FieldsOptions = {},
) {
  const known = [...Object.keys(entries), ...ignored];
  return v.pipe(
    v.custom<JsonFields>(isJsonObject, quoteInput("is not an object")),
    v.transform((fields) =>
      Object.fromEntries(
        Object.entries(fields).filter(
          ([key, value]) => (value !== null || filled.includes(key)) && !ignored.includes(key),
        ),
      ),
    ),
    v.strictObject(entries, (issue) =>
      isUnknownKey(issue) ? describeUnknownKey(String(issue.input), known) : missing,
    ),
  );
}

function describeUnknownKey(key: string, known: readonly string[]): string {
  const meant = findNearest(key, known);
  return `unknown key; ${meant === undefined ? `there are: ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

/** Creates the schema of a text that is not empty. @param what  the fault, after the value */
export function createText(what: string) {
  return v.custom<string>((value) => isText(value) && value !== "", quoteInput(what));
}

/** Time limit per text, ms. The texts are chosen to be slow to match. */
const MATCH_TIMEOUT_MS = 50;
const TRIAL_COUNT = 10;

/**
 * Describes what is wrong with a handler's type: it is an invalid regular expression, or takes exponential time. The
 * texts to match come from anyone who may write schedules.
 */
export function findPatternFault(type: string): string | undefined {
  try {
    createTypeMatcher(type);
  } catch (error) {
    return `${quoteText(type)} is not a regular expression: ${(error as Error).message}`;
  }
  const pattern = /^\/(.*)\/$/s.exec(type)?.[1];
  if (pattern === undefined || !/[*+}]/.test(pattern)) return undefined;
  return isFastPattern(pattern)
    ? undefined
    : `${quoteText(type)} can take for ever; do not repeat a repeated part`;
}

/** Tests the pattern with many repetitions of text it probably matches, followed by an end that it does not match. */
function isFastPattern(pattern: string): boolean {
  const letters = [...new Set(["a", "0", ".", "_", ...pattern.replace(/\\./g, "")])].slice(0, TRIAL_COUNT);
  const texts = letters.map((letter) => `${letter.repeat(40)}\n\u0001`);
  const code = `const e = new RegExp(${JSON.stringify(pattern)}); for (const t of ${JSON.stringify(texts)}) e.test(t);`;
  try {
    new Script(code).runInNewContext({}, { timeout: MATCH_TIMEOUT_MS * texts.length });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT";
  }
}

/** Keys of PerfectSched's files that have no effect here, and why. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  poll_interval: "workers do not poll, they watch",
  alive_time: "workers keep their tasks by themselves; see the setting ttl",
  timezone: "every schedule has its own",
  log: "see the setting logFile",
  ...explainKeys("schedules are in etcd", "type", "url", "table", "sslca", "max_acquire"),
  ...explainKeys("see the setting", "endpoints", "prefix", "transport", "connectTimeout"),
  ...explainKeys("see the setting", "user", "passwordFile", "allowPlaintextPassword"),
  ...explainKeys(
    "see the setting",
    "cacert",
    "cert",
    "key",
    "serverName",
    "insecureSkipTlsVerify",
    "clusterId",
  ),
};

function explainKeys(why: string, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}
