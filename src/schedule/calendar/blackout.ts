import { DAY_MS, HOUR_MS, MINUTE_MS, type Millis, type WallTime } from "../../core/base/clock.ts";
import { type ParseResult, quoteText } from "../../core/base/text.ts";
import { findOffsetPeriod } from "../cron/offsets.ts";
import { countTimes, type PlanTimes } from "../plan-times.ts";

// Blackouts: times of the day at which a schedule does not fire, such as 22:00-06:00. The clocks of its zone decide, at the
// instant itself: a time that they show twice is excluded twice, and one that they skip is excluded at no instant.

/** Times of the day, ms since midnight. If it ends before it begins, it goes on over midnight. */
interface Blackout {
  /** As written. */
  readonly text: string;
  readonly from: Millis;
  /** Exclusive. */
  readonly until: Millis;
}

const TIMES_OF_DAY = /^(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/;

/** Returns whether an entry of `except` is meant as times of the day, and not as the name of a calendar. */
export function isBlackoutText(text: string): boolean {
  return TIMES_OF_DAY.test(text);
}

/** Parses `22:00-06:00`, with 24:00 for the end of the day. */
export function parseBlackout(text: string): ParseResult<Blackout> {
  const [hour = 0, minute = 0, endHour = 0, endMinute = 0] =
    TIMES_OF_DAY.exec(text)?.slice(1).map(Number) ?? [];
  const [from, until] = [hour * HOUR_MS + minute * MINUTE_MS, endHour * HOUR_MS + endMinute * MINUTE_MS];
  const isValid = minute < 60 && endMinute < 60 && from < DAY_MS && until <= DAY_MS;
  if (!isValid || !isBlackoutText(text))
    return { fault: `${quoteText(text)} does not name times of the day: write them as 22:00-06:00` };
  return from % DAY_MS === until % DAY_MS
    ? { fault: `${quoteText(text)} is the whole day, or nothing: give the schedule a pause instead` }
    : { value: { text, from, until } };
}

/** Returns the blackouts of a schedule. */
export function listBlackouts({ except = [] }: { readonly except?: readonly string[] }): Blackout[] {
  return except.filter(isBlackoutText).flatMap((text) => {
    const parsed = parseBlackout(text);
    return "value" in parsed ? [parsed.value] : [];
  });
}

/** A blackout as it is at an instant. All instants from `start` on, and before `end`, are in it; it may be longer. */
export interface BlackoutSpan {
  readonly text: string;
  readonly start: WallTime;
  readonly end: WallTime;
}

/** Finds the blackout in which an instant is. @param zone  a name that `checkZone` accepts */
export function findBlackout(
  blackouts: readonly Blackout[],
  zone: string,
  at: WallTime,
): BlackoutSpan | undefined {
  const period = blackouts.length === 0 ? undefined : findOffsetPeriod(zone, at);
  if (period === undefined) return undefined;
  const time = getTimeOfDay(at + period.offset);
  for (const { text, from, until } of blackouts) {
    const length = getTimeOfDay(until - from);
    const elapsed = getTimeOfDay(time - from);
    if (elapsed >= length) continue;
    const start = Math.max(period.start, at - elapsed);
    return { text, start, end: Math.min(period.end, at + length - elapsed) };
  }
  return undefined;
}

const getTimeOfDay = (wall: Millis): Millis => ((wall % DAY_MS) + DAY_MS) % DAY_MS;

/**
 * Largest number of blackouts that a search leaves, one a day or more: more than two years, in which the clocks change. What was
 * not found then is always in a blackout.
 */
const MAX_LEFT_BLACKOUTS = 1_500;

/** Leaves out the times of a plan that are in blackouts. */
export function excludeBlackouts(times: PlanTimes, zone: string, blackouts: readonly Blackout[]): PlanTimes {
  if (blackouts.length === 0) return times;
  const search = (find: () => number | undefined, go: (span: BlackoutSpan) => number | undefined) => {
    let at = find();
    for (let left = 0; at !== undefined && left < MAX_LEFT_BLACKOUTS; left += 1) {
      const span = findBlackout(blackouts, zone, at);
      if (span === undefined) return at;
      at = go(span);
    }
    return undefined;
  };
  const goOn = ({ end }: BlackoutSpan) => times.findFrom(end);
  const findAfter = (instant: WallTime) => search(() => times.findAfter(instant), goOn);
  return {
    findAfter,
    findFrom: (instant) => search(() => times.findFrom(instant), goOn),
    findUntil: (instant) =>
      search(
        () => times.findUntil(instant),
        ({ start }) => times.findUntil(start - 1),
      ),
    count: (after, until, most) => countTimes(findAfter, { after, until, most }),
  };
}
