import { parseCron } from "./cron.ts";
import { DEFAULTS, type Definition } from "./definition.ts";
import { jitterOf } from "./hash.ts";
import { countBetween, occurrenceAfter, occurrenceFrom, occurrenceUntil } from "./occurrence.ts";

/** When the occurrences of one schedule are, and when each may be taken. Instants in ms since the epoch. */
export interface Timing {
  /** From a nominal time to when it may be taken: delay and jitter, ms. */
  readonly lag: number;
  /** The first strictly after an instant; undefined: there is none any more. */
  after(instant: number): number | undefined;
  /** The first at or after. */
  from(instant: number): number | undefined;
  /** The last at or before. */
  until(instant: number): number | undefined;
  /** How many are after one instant and up to another, at most `most`. */
  count(after: number, until: number, most: number): number;
}

/** @throws CronError, UsageError where cron text or zone cannot be read */
export function timingOf(id: string, definition: Definition): Timing {
  const { timezone, delay = DEFAULTS.delay, jitter = DEFAULTS.jitter, end } = definition;
  const cron = parseCron(definition.cron);
  const within = (at: number | undefined) =>
    at !== undefined && end !== undefined && at > end ? undefined : at;
  return {
    lag: delay + jitterOf(id, jitter),
    after: (instant) => within(occurrenceAfter(cron, timezone, instant)),
    from: (instant) => within(occurrenceFrom(cron, timezone, instant)),
    until: (instant) => occurrenceUntil(cron, timezone, end === undefined ? instant : Math.min(instant, end)),
    count: (after, until, most) => countBetween(cron, timezone, after, until, most),
  };
}
