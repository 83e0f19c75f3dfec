/** Times of the day that a cron text lets pass, as tables that answer in one step. */
export interface Times {
  /** From a minute (0 to 60) the first that passes, from it on; 60: none in this hour any more. */
  readonly minuteFrom: readonly number[];
  /** Before a minute (0 to 60) the last that passes; -1: none. */
  readonly minuteBefore: readonly number[];
  readonly hourFrom: readonly number[];
  readonly hourBefore: readonly number[];
  readonly perHour: number;
  readonly perDay: number;
}

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** @param minutes, hours  in order, each once, at least one */
export function timesOf(minutes: readonly number[], hours: readonly number[]): Times {
  const [minuteFrom, minuteBefore] = tablesOf(minutes, 60);
  const [hourFrom, hourBefore] = tablesOf(hours, 24);
  return {
    ...{ minuteFrom, minuteBefore, hourFrom, hourBefore },
    perHour: minutes.length,
    perDay: minutes.length * hours.length,
  };
}

type Tables = readonly [from: readonly number[], before: readonly number[]];

/** Fields are shared between cron texts, and their tables with them: 100,000 texts have few different fields. */
const tables = new WeakMap<readonly number[], Tables>();

function tablesOf(values: readonly number[], size: number): Tables {
  let both = tables.get(values);
  if (both === undefined) {
    both = [firstFrom(values, size), lastBefore(values, size)];
    tables.set(values, both);
  }
  return both;
}

function firstFrom(values: readonly number[], size: number): number[] {
  return Array.from({ length: size + 1 }, (_, at) => values.find((value) => value >= at) ?? size);
}

function lastBefore(values: readonly number[], size: number): number[] {
  return Array.from({ length: size + 1 }, (_, at) => values.findLast((value) => value < at) ?? -1);
}

/** How many times of a day are before one, ms since midnight. */
export function timesBefore(times: Times, time: number): number {
  let count = 0;
  let at = timeFrom(times, 0);
  while (at < time) {
    const hourEnd = (Math.floor(at / HOUR) + 1) * HOUR;
    if (hourEnd <= time) {
      count += times.perHour;
      at = timeFrom(times, hourEnd);
    } else {
      count += 1;
      at = timeFrom(times, at + MINUTE);
    }
  }
  return count;
}

/** First time of the day from one on, ms since midnight; a day or more: none. */
export function timeFrom(times: Times, time: number): number {
  const hour = Math.floor(time / HOUR);
  const minute = Math.ceil((time - hour * HOUR) / MINUTE);
  const first = times.hourFrom[hour] ?? 24;
  if (first > hour) return first * HOUR + (times.minuteFrom[0] ?? 0) * MINUTE;
  const rest = times.minuteFrom[minute] ?? 60;
  if (rest < 60) return hour * HOUR + rest * MINUTE;
  return (times.hourFrom[hour + 1] ?? 24) * HOUR + (times.minuteFrom[0] ?? 0) * MINUTE;
}

/** Last time of the day up to one, ms since midnight; negative: none. */
export function timeUntil(times: Times, time: number): number {
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
