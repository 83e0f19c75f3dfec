import { parseDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import { clean, findNearest, quoteText } from "../base/text.ts";
import type { Duration } from "./claim-types.ts";
import type { Instant } from "./schedule-types.ts";

/**
 * Parses a duration option to ms.
 * @param name  name of the option, for the message
 * @throws ConfigError
 */
export function parseDurationOption(name: string, given: Duration): number {
  if (typeof given === "number" && Number.isSafeInteger(given) && given >= 0) return given;
  if (typeof given !== "string")
    throw new ConfigError(
      `${name}: ${formatOptionValue(given)} is neither whole ms of 0 or more nor a string such as "30s"`,
    );
  const parsed = parseDuration(given);
  if ("fault" in parsed) throw new ConfigError(`${name}: ${parsed.fault}`);
  return parsed.value;
}

/** Parses an instant option to ms since the epoch. @throws ConfigError */
export function parseInstantOption(name: string, given: Instant): number {
  const isIso = typeof given === "string" && /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(given);
  const at = given instanceof Date ? given.getTime() : isIso ? Date.parse(given) : given;
  if (typeof at === "number" && Number.isSafeInteger(at) && at >= 0) return at;
  throw new ConfigError(
    `${name}: ${formatOptionValue(given)} is not an instant; use a Date, ms since the epoch, or a string such as 2026-11-22T05:00Z`,
  );
}

/**
 * Refuses unknown options, because a misspelled option would silently have no effect.
 * @param what  the function that takes the options: `withLock`
 * @throws ConfigError
 */
export function checkOptions(what: string, given: object, known: readonly string[]): void {
  if (typeof given !== "object" || given === null)
    throw new ConfigError(`${what}: the options must be an object; got ${formatOptionValue(given)}`);
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong === undefined) return;
  const meant = findNearest(wrong, known);
  const hint =
    meant === undefined ? `; the options are ${known.join(", ")}` : `; did you mean ${quoteText(meant)}?`;
  throw new ConfigError(`unknown option ${quoteText(wrong)} of ${what}${hint}`);
}

/** Formats a value for a message. */
export function formatOptionValue(given: unknown): string {
  return typeof given === "string" ? quoteText(given) : clean(String(given), 60);
}

/** Returns an object without the keys whose value is undefined. */
export function pickDefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
