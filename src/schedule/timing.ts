import { parseCron } from "./cron/cron.ts";
import {
  countOccurrences,
  findOccurrenceAfter,
  findOccurrenceFrom,
  findOccurrenceUntil,
} from "./cron/occurrence.ts";
import type { Definition } from "./definition.ts";
import { SCHEDULE_DEFAULTS } from "./definition-values.ts";
import { computeJitter } from "./hash.ts";

/** Times of the occurrences of one schedule, and when each may be claimed. Instants in ms since the epoch. */
export interface Timing {
  /** Time between the scheduled time and the claim: delay and jitter, ms. */
  readonly lag: number;
  /** Returns the first occurrence strictly after an instant; undefined if there is none. */
  findAfter(instant: number): number | undefined;
  /** Returns the first occurrence at or after an instant. */
  findFrom(instant: number): number | undefined;
  /** Returns the last occurrence at or before an instant. */
  findUntil(instant: number): number | undefined;
  /** Counts the occurrences after one instant and up to another, at most `most`. */
  count(after: number, until: number, most: number): number;
}

/**
 * Creates the timing of a schedule from its definition.
 * @throws CronError, UsageError if the cron expression or the zone is invalid
 */
export function createTiming(id: string, definition: Definition): Timing {
  const { timezone, delay = SCHEDULE_DEFAULTS.delay, jitter = SCHEDULE_DEFAULTS.jitter, end } = definition;
  const cron = parseCron(definition.cron);
  const limitToEnd = (at: number | undefined) =>
    at !== undefined && end !== undefined && at > end ? undefined : at;
  return {
    lag: delay + computeJitter(id, jitter),
    findAfter: (instant) => limitToEnd(findOccurrenceAfter(cron, timezone, instant)),
    findFrom: (instant) => limitToEnd(findOccurrenceFrom(cron, timezone, instant)),
    findUntil: (instant) =>
      findOccurrenceUntil(cron, timezone, end === undefined ? instant : Math.min(instant, end)),
    count: (after, until, most) => countOccurrences(cron, timezone, after, until, most),
  };
}
