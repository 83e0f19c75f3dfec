import type { Field } from "./cron-field.ts";
import { type DayFields, daysOf } from "./days.ts";
import { type Times, timeFrom, timesBefore, timesOf, timeUntil } from "./times.ts";

// Wall-clock times stand for themselves here: ms since 1970-01-01 00:00 on the wall, whatever the zone. Clock changes are
// no matter of this file.

/** Times of the day and days of the months that a cron text lets pass. */
export interface Calendar {
  readonly times: Times;
  /** Days of a month (0 to 11) that pass, as bits 1 to 31. */
  days(year: number, month: number): number;
}

interface Fields extends DayFields {
  readonly minute: Field;
  readonly hour: Field;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** @param fields  what a cron text lets pass */
export function calendarOf(fields: Fields): Calendar {
  return { times: timesOf(fields.minute.values, fields.hour.values), days: daysOf(fields) };
}

/**
 * First wall-clock time that passes, from one on and before another.
 * @param from    wall-clock ms; it need not be a whole minute
 * @param before  wall-clock ms
 */
export function wallFrom(calendar: Calendar, from: number, before: number): number | undefined {
  const wall = Math.ceil(from / MINUTE) * MINUTE;
  const midnight = Math.floor(wall / DAY) * DAY;
  if (wall >= before) return undefined;
  if (isDay(calendar, midnight)) {
    const rest = timeFrom(calendar.times, wall - midnight);
    if (rest < DAY) return below(midnight + rest, before);
  }
  const day = dayFrom(calendar, midnight + DAY, before);
  return day === undefined ? undefined : below(day + timeFrom(calendar.times, 0), before);
}

/** Last wall-clock time that passes, up to one and not before another. Both in wall-clock ms. */
export function wallUntil(calendar: Calendar, until: number, from: number): number | undefined {
  const wall = Math.floor(until / MINUTE) * MINUTE;
  const midnight = Math.floor(wall / DAY) * DAY;
  if (wall < from) return undefined;
  if (isDay(calendar, midnight)) {
    const rest = timeUntil(calendar.times, wall - midnight);
    if (rest >= 0) return notBelow(midnight + rest, from);
  }
  const day = dayUntil(calendar, midnight - DAY, from);
  return day === undefined ? undefined : notBelow(day + timeUntil(calendar.times, DAY - MINUTE), from);
}

/** How many wall-clock times pass from one on and before another. Both in wall-clock ms. */
export function countWalls(calendar: Calendar, from: number, before: number): number {
  if (from >= before) return 0;
  return countBefore(calendar, before, from) - countBefore(calendar, from, from);
}

/** How many pass from the first of the month of `origin` on and before `wall`. */
function countBefore(calendar: Calendar, wall: number, origin: number): number {
  const first = new Date(origin);
  const last = new Date(wall);
  const months =
    (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  let days = 0;
  for (let month = 0; month < months; month += 1) {
    const at = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month));
    days += bits(calendar.days(at.getUTCFullYear(), at.getUTCMonth()));
  }
  const mask = calendar.days(last.getUTCFullYear(), last.getUTCMonth());
  const today = last.getUTCDate();
  days += bits(mask & ((1 << today) - 1));
  return (
    days * calendar.times.perDay +
    ((mask >>> today) & 1) * timesBefore(calendar.times, wall - Math.floor(wall / DAY) * DAY)
  );
}

function isDay(calendar: Calendar, midnight: number): boolean {
  const date = new Date(midnight);
  return ((calendar.days(date.getUTCFullYear(), date.getUTCMonth()) >>> date.getUTCDate()) & 1) === 1;
}

/** Midnight of the first day that passes, from one on and before an end. */
function dayFrom(calendar: Calendar, midnight: number, before: number): number | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) < before) {
    // Bits below the day are shifted out, `>>> 0` keeps bit 31 a positive one.
    const rest = (calendar.days(year, month) >>> day) >>> 0;
    if (rest !== 0) return Date.UTC(year, month, day + 31 - Math.clz32(rest & -rest));
    month += 1;
    if (month === 12) [year, month] = [year + 1, 0];
    day = 1;
  }
  return undefined;
}

/** Midnight of the last day that passes, up to one and not before a start. */
function dayUntil(calendar: Calendar, midnight: number, from: number): number | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) + DAY > from) {
    const rest = calendar.days(year, month) & (0xffff_ffff >>> (31 - day));
    if (rest !== 0) return Date.UTC(year, month, 31 - Math.clz32(rest));
    month -= 1;
    if (month < 0) [year, month] = [year - 1, 11];
    day = 31;
  }
  return undefined;
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

const below = (wall: number, before: number) => (wall < before ? wall : undefined);
const notBelow = (wall: number, from: number) => (wall >= from ? wall : undefined);
