import * as v from "valibot";
import { formatDuration, parseDuration } from "../core/base/clock.ts";
import { ConfigError } from "../core/base/errors.ts";
import { isCount } from "../core/base/parse-json.ts";
import { applySchema, isUnknownKey, parseWith } from "../core/base/schema.ts";
import { clean, findNearest, type ParseResult, quoteText } from "../core/base/text.ts";
import type { Settings } from "../core/config/settings.ts";
import { canTerminateWithin, computeSmallestTtl } from "../core/config/ttl.ts";
import { isText, isTexts } from "../schedule/json-fields.ts";

/** A `Duration` in ms. */
export const DURATION = v.pipe(v.unknown(), parseWith(parseDurationOption));

/** A time to live in ms. etcd counts in whole seconds. */
const TTL = v.pipe(v.unknown(), parseWith(parseTtlOption));

/** An `Instant` in ms since the epoch. */
export const INSTANT = v.pipe(v.unknown(), parseWith(parseInstantOption));

export const FLAG = v.boolean(quoteOption("is neither true nor false"));

/** Whether to wait, or how long, in ms. */
export const WAIT = v.lazy((given) => (typeof given === "boolean" ? FLAG : DURATION));

/** A signal that ends a wait. */
export const SIGNAL = v.optional(v.instance(AbortSignal, quoteOption("is not an AbortSignal")));

/** A number of at least one. */
export const POSITIVE = v.custom<number>(
  (value) => isCount(value) && value >= 1,
  quoteOption("is not a whole number of 1 or more"),
);

export const TEXT = v.custom<string>(isText, quoteOption("is not a string"));
export const PATH = v.custom<string>(
  (value) => isText(value) && value !== "" && !value.includes("\0"),
  quoteOption("is not a path"),
);
export const TEXTS = v.custom<readonly string[]>(isTexts, quoteOption("is not a list of strings"));

/**
 * Checks options, and refuses unknown ones: a misspelled option would silently have no effect.
 * @param of  what has the options: the function `withLock`
 * @throws ConfigError with the option and the value received
 */
export function parseOptions<E extends v.ObjectEntries>(of: string, given: object, entries: E) {
  if (typeof given !== "object" || given === null)
    throw new ConfigError(`${of}: the options must be an object; got ${formatOptionValue(given)}`);
  const schema = v.strictObject(entries, (issue) =>
    isUnknownKey(issue)
      ? describeUnknownOption(String(issue.input), of, Object.keys(entries))
      : `${of} needs the option ${issue.expected}`,
  );
  const options = applySchema(schema, given);
  if ("value" in options) return options.value;
  const { path, what, isUnknown } = options.fault;
  throw new ConfigError(isUnknown || path.length === 0 ? what : `${path.join(".")}: ${what}`);
}

/** Checks an argument that is not one of a call's options. @throws ConfigError with its name and the value received */
export function parseArgument<T>(name: string, given: unknown, schema: v.GenericSchema<unknown, T>): T {
  const argument = applySchema(schema, given);
  if ("value" in argument) return argument.value;
  throw new ConfigError(`${name}: ${argument.fault.what}`);
}

/** Creates a message of a schema: the value received, and what is wrong with it. */
export function quoteOption(what: string): (issue: { input: unknown }) => string {
  return ({ input }) => `${formatOptionValue(input)} ${what}`;
}

function parseDurationOption(given: unknown): ParseResult<number> {
  if (isCount(given)) return { value: given };
  if (isText(given)) return parseDuration(given);
  return {
    fault: `${formatOptionValue(given)} is neither whole ms of 0 or more nor a string such as "30s"`,
  };
}

function parseTtlOption(given: unknown): ParseResult<number> {
  const ttl = parseDurationOption(given);
  if ("fault" in ttl || (ttl.value >= 2_000 && ttl.value % 1_000 === 0)) return ttl;
  return { fault: `${formatOptionValue(given)} is not a number of whole seconds, at least 2 s` };
}

function parseInstantOption(given: unknown): ParseResult<number> {
  const isIso = isText(given) && /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(given);
  const at = given instanceof Date ? given.getTime() : isIso ? Date.parse(given) : given;
  if (isCount(at)) return { value: at };
  return {
    fault: `${formatOptionValue(given)} is not an instant; use a Date, ms since the epoch, or a string such as 2026-11-22T05:00Z`,
  };
}

function describeUnknownOption(name: string, of: string, known: readonly string[]): string {
  const meant = findNearest(name, known);
  const hint =
    meant === undefined ? `the options are ${known.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `unknown option ${quoteText(name)} of ${of}; ${hint}`;
}

/** Formats a value for a message. Not as JSON, which would change `NaN` and fail for a bigint. */
function formatOptionValue(given: unknown): string {
  return isText(given) ? quoteText(given) : clean(String(given), 60);
}

export const SESSION_OPTIONS = { ttl: v.optional(TTL), terminationTimeout: v.optional(DURATION) };

/** The times of a session, in the units that the inner modules expect. */
export interface SessionTimes {
  /** Whole seconds. */
  ttl: number;
  /** ms. */
  terminationTimeout: number;
}

/**
 * Resolves the times from the options, otherwise from the settings.
 * @throws ConfigError if the termination timeout does not fit into the ttl
 */
export function resolveSessionTimes(
  settings: Settings,
  given: { ttl?: number | undefined; terminationTimeout?: number | undefined },
): SessionTimes {
  const { ttl = settings.ttl, terminationTimeout = settings.terminationTimeout } = given;
  if (canTerminateWithin(terminationTimeout, ttl)) return { ttl: ttl / 1000, terminationTimeout };
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} does not fit into ttl ${formatDuration(ttl)}; ` +
      `set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout))} or more`,
  );
}
