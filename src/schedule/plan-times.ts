import type { WallTime } from "../core/base/clock.ts";
import { parseDay } from "./calendar/calendar.ts";

/** The occurrences of a plan in a time zone. */
export interface PlanTimes {
  /** Returns the first occurrence strictly after an instant; undefined if there is none. */
  findAfter(instant: WallTime): number | undefined;
  /** Returns the first occurrence at or after an instant. */
  findFrom(instant: WallTime): number | undefined;
  /** Returns the last occurrence at or before an instant. */
  findUntil(instant: WallTime): number | undefined;
  /** Counts the occurrences after one instant and up to another, at most `most`. */
  count(after: WallTime, until: WallTime, most: number): number;
}

/** Counts the times of a plan after one instant and up to another, at most `most`. */
export function countTimes(
  findAfter: PlanTimes["findAfter"],
  { after, until, most }: { after: WallTime; until: WallTime; most: number },
): number {
  let count = 0;
  for (let at = findAfter(after); at !== undefined && at <= until && count < most; at = findAfter(at))
    count += 1;
  return count;
}

const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)$/i;

/** Parses a date, a time and an offset. @returns undefined if it is malformed, or before the epoch */
export function parseInstantText(text: string): WallTime | undefined {
  const [, day = "", time, offset] = INSTANT.exec(text) ?? [];
  if (parseDay(day) === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${offset?.toUpperCase()}`);
  return at >= 0 ? at : undefined;
}
