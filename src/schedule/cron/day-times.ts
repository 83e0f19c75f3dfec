/** Times of the day that match a cron expression, as lookup tables. */
export interface DayTimes {
  /** By minute (0 to 60): the first matching minute from it on; 60 if the hour has no more. */
  readonly minuteFrom: readonly number[];
  /** By minute: the last matching minute before it; -1 if there is none. */
  readonly minuteBefore: readonly number[];
  readonly hourFrom: readonly number[];
  readonly hourBefore: readonly number[];
  readonly perHour: number;
  readonly perDay: number;
}

const HOUR = 3_600_000;

/**
 * Builds the lookup tables.
 * @param minutes sorted, unique, at least one
 * @param hours sorted, unique, at least one
 */
export function buildDayTimes(minutes: readonly number[], hours: readonly number[]): DayTimes {
  const [minuteFrom, minuteBefore] = getTables(minutes, 60);
  const [hourFrom, hourBefore] = getTables(hours, 24);
  return {
    minuteFrom,
    minuteBefore,
    hourFrom,
    hourBefore,
    perHour: minutes.length,
    perDay: minutes.length * hours.length,
  };
}

type LookupTables = readonly [from: readonly number[], before: readonly number[]];

/** Tables by field values. Cron expressions share fields: 100,000 expressions have few different ones. */
const tables = new WeakMap<readonly number[], LookupTables>();

function getTables(values: readonly number[], size: number): LookupTables {
  let both = tables.get(values);
  if (both === undefined) {
    both = [buildFirstFrom(values, size), buildLastBefore(values, size)];
    tables.set(values, both);
  }
  return both;
}

function buildFirstFrom(values: readonly number[], size: number): number[] {
  return Array.from({ length: size + 1 }, (_, at) => values.find((value) => value >= at) ?? size);
}

function buildLastBefore(values: readonly number[], size: number): number[] {
  return Array.from({ length: size + 1 }, (_, at) => values.findLast((value) => value < at) ?? -1);
}

/** Counts the times of a day before `time`, ms since midnight. */
export function countTimesBefore(times: DayTimes, time: number): number {
  let count = 0;
  let at = findTimeFrom(times, 0);
  while (at < time) {
    const hourEnd = (Math.floor(at / HOUR) + 1) * HOUR;
    if (hourEnd <= time) {
      count += times.perHour;
      at = findTimeFrom(times, hourEnd);
    } else {
      count += 1;
      at = findTimeFrom(times, at + MINUTE);
    }
  }
  return count;
}

/** Returns the first time of the day from `time` on, ms since midnight; a day or more if there is none. */
export function findTimeFrom(times: DayTimes, time: number): number {
  const hour = Math.floor(time / HOUR);
  const minute = Math.ceil((time - hour * HOUR) / MINUTE);
  const first = times.hourFrom[hour] ?? 24;
  if (first > hour) return first * HOUR + (times.minuteFrom[0] ?? 0) * MINUTE;
  const rest = times.minuteFrom[minute] ?? 60;
  if (rest < 60) return hour * HOUR + rest * MINUTE;
  return (times.hourFrom[hour + 1] ?? 24) * HOUR + (times.minuteFrom[0] ?? 0) * MINUTE;
}

/** Returns the last time of the day up to `time`, ms since midnight; negative if there is none. */
export function findTimeUntil(times: DayTimes, time: number): number {
  const hour = Math.floor(time / HOUR);
  const minute = Math.floor((time - hour * HOUR) / MINUTE);
  const lastMinute = times.minuteBefore[60] ?? 0;
  const last = times.hourBefore[hour + 1] ?? -1;
  if (last < hour) return last < 0 ? -1 : last * HOUR + lastMinute * MINUTE;
  const rest = times.minuteBefore[minute + 1] ?? -1;
  if (rest >= 0) return hour * HOUR + rest * MINUTE;
  const before = times.hourBefore[hour] ?? -1;
  return before < 0 ? -1 : before * HOUR + lastMinute * MINUTE;
}
