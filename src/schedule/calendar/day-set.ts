import { type CalendarEntry, getWeekdayOf } from "./calendar-day.ts";

const DAY = 86_400_000;

/** A set of days. */
export interface DaySet {
  /** @param day  days since 1970-01-01 */
  has(day: number): boolean;
}

/** Builds the set of the days that any of the entries names. A lookup takes logarithmic time. */
export function buildDaySet(entries: readonly CalendarEntry[]): DaySet {
  const weekdays = new Set<number>();
  const yearly = new Set<number>();
  const ranges: DayRange[] = [];
  for (const entry of entries) {
    if (entry.kind === "weekday") weekdays.add(entry.weekday);
    else if (entry.kind === "yearly") yearly.add(32 * entry.month + entry.date);
    else ranges.push(entry);
  }
  const merged = mergeRanges(ranges);
  return {
    has: (day) => weekdays.has(getWeekdayOf(day)) || hasYearly(yearly, day) || isInRanges(merged, day),
  };
}

interface DayRange {
  readonly from: number;
  readonly until: number;
}

function hasYearly(yearly: ReadonlySet<number>, day: number): boolean {
  if (yearly.size === 0) return false;
  const at = new Date(day * DAY);
  return yearly.has(32 * at.getUTCMonth() + at.getUTCDate());
}

/** Sorts ranges, and joins those that overlap or touch. */
function mergeRanges(ranges: readonly DayRange[]): DayRange[] {
  const merged: DayRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || range.from > last.until + 1) merged.push(range);
    else merged[merged.length - 1] = { from: last.from, until: Math.max(last.until, range.until) };
  }
  return merged;
}

function isInRanges(ranges: readonly DayRange[], day: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.until ?? day) < day) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.from ?? Number.POSITIVE_INFINITY) <= day;
}
