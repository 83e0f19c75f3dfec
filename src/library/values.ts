import { parseDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import { clean, quoted } from "../base/text.ts";
import { NotSupportedError } from "../schedule/errors.ts";
import type { Duration } from "./claim-types.ts";
import type { Instant } from "./schedule-types.ts";

/** A duration as programs give it, in ms. @param name  of the option, for the message. @throws ConfigError */
export function durationOf(name: string, given: Duration): number {
  if (typeof given === "number" && Number.isSafeInteger(given) && given >= 0) return given;
  if (typeof given !== "string")
    throw new ConfigError(`${name}: ${shown(given)} is neither whole ms from 0 on nor a text such as "30s"`);
  const parsed = parseDuration(given);
  if ("fault" in parsed) throw new ConfigError(`${name}: ${parsed.fault}`);
  return parsed.value;
}

/** An instant as programs give it, in ms since the epoch. @throws ConfigError */
export function instantOf(name: string, given: Instant): number {
  const isIso = typeof given === "string" && /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(given);
  const at = given instanceof Date ? given.getTime() : isIso ? Date.parse(given) : given;
  if (typeof at === "number" && Number.isSafeInteger(at) && at >= 0) return at;
  throw new ConfigError(
    `${name}: ${shown(given)} is no instant; give a Date, ms since the epoch, or a text such as 2026-11-22T05:00Z`,
  );
}

/** What JSON makes of a value, so that what is kept is what was given. @throws NotSupportedError */
export function carriable(name: string, given: unknown): unknown {
  try {
    const text = JSON.stringify(given);
    if (text !== undefined) return JSON.parse(text);
  } catch (cause) {
    throw new NotSupportedError(`${name}: JSON cannot carry it: ${(cause as Error).message}`, { cause });
  }
  throw new NotSupportedError(`${name}: JSON cannot carry ${clean(String(given), 60)}`);
}

/** A value in a message. */
export function shown(given: unknown): string {
  return typeof given === "string" ? quoted(given) : clean(String(given), 60);
}

/** Without the keys that have no value. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
