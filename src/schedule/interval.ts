import { formatDuration, formatIso, parseDuration, type WallTime } from "../core/base/clock.ts";
import { quoteText } from "../core/base/text.ts";
import { CronError } from "./cron/cron.ts";
import { countTimes, type PlanTimes, parseInstantText } from "./plan-times.ts";

/** Instants at which a plan is not due, though its text says so. */
export interface Exclusion {
  isExcluded?(instant: WallTime): boolean;
}

/** A fixed rate: an instant, and every so many ms after it, whatever the clocks do. */
export interface Interval extends Exclusion {
  readonly every: number;
  /** ms since the epoch. */
  readonly from: WallTime;
}

/** Shortest interval, ms. */
const MIN_INTERVAL_MS = 1_000;
const EVERY_TEXT = /^@every\s+(\S+)(?:\s+from\s+(.+))?$/i;

/**
 * Parses `@every 90m`, or `@every 90m from 2026-11-24T03:00Z`. Without an instant, it counts from 1970-01-01T00:00Z, so that
 * the same text always means the same times.
 * @throws CronError
 */
export function parseInterval(text: string): Interval {
  const [, written = "", start] = EVERY_TEXT.exec(text) ?? [];
  const every = parseDuration(written);
  const from = start === undefined ? 0 : parseInstantText(start);
  if (!("value" in every) || every.value < MIN_INTERVAL_MS || from === undefined)
    throw new CronError(
      `cron text ${quoteText(text)} is not an interval: write a duration of at least ${formatDuration(MIN_INTERVAL_MS)}, and perhaps when it begins, such as @every 90m from 2026-11-24T03:00Z`,
    );
  return { every: every.value, from };
}

/** Parses `@after-end 5m`. @returns ms @throws CronError */
export function parseWait(text: string): number {
  const wait = parseDuration(text.replace(/^\S+\s*/, ""));
  if ("value" in wait && wait.value >= MIN_INTERVAL_MS) return wait.value;
  throw new CronError(
    `cron text ${quoteText(text)} does not say how long after the end of a run: write a duration of at least ${formatDuration(MIN_INTERVAL_MS)}, such as @after-end 5m`,
  );
}

/** Writes an instant into the text of an interval that has none; other texts stay. */
export function anchorInterval(text: string, from: WallTime): string {
  return /^@every\s+\S+$/i.test(text.trim()) ? `${text.trim()} from ${formatIso(from)}` : text;
}

/** Every time zone is a multiple of this away from UTC, so days begin at such an instant. */
const QUARTER_HOUR_MS = 900_000;
/** How far to search for a day that is not excluded, in quarters of an hour: a year. */
const MAX_SEARCHED_QUARTERS = 366 * 96;

export function createIntervalTimes({ every, from, isExcluded = () => false }: Interval): PlanTimes {
  const alignUp = (instant: WallTime) => from + Math.max(0, Math.ceil((instant - from) / every)) * every;
  const alignDown = (instant: WallTime) =>
    instant < from ? undefined : from + Math.floor((instant - from) / every) * every;
  const findFrom = (instant: WallTime) => {
    let at = alignUp(instant);
    for (let steps = 0; steps < MAX_SEARCHED_QUARTERS; steps += 1) {
      if (!isExcluded(at)) return at;
      at = alignUp((Math.floor(at / QUARTER_HOUR_MS) + 1) * QUARTER_HOUR_MS);
    }
    return undefined;
  };
  const findAfter = (instant: WallTime) => findFrom(instant + 1);
  return {
    findFrom,
    findAfter,
    findUntil: (instant) => {
      let at = alignDown(instant);
      for (let steps = 0; at !== undefined && steps < MAX_SEARCHED_QUARTERS; steps += 1) {
        if (!isExcluded(at)) return at;
        at = alignDown(Math.floor(at / QUARTER_HOUR_MS) * QUARTER_HOUR_MS - 1);
      }
      return undefined;
    },
    count: (after, until, most) => countTimes(findAfter, { after, until, most }),
  };
}
