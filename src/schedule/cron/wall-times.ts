import {
  DAY_MS,
  HOUR_MS,
  type LocalTime,
  MINUTE_MS,
  type Millis,
  type WallTime,
} from "../../core/base/clock.ts";
import { memoize, memoizeWeakly } from "../../core/base/memoize.ts";
import type { CronField, CronFields } from "./cron-field.ts";

// Wall-clock times in this file are independent of the zone. This file does not handle clock changes.

/** Times of the day and days of the months that match a cron expression. */
export interface WallTimes {
  readonly times: DayTimes;
  /** Returns the matching days of a month (0 to 11) as bits 1 to 31. */
  getDayMask(year: number, month: number): number;
}

/**
 * Builds the wall-clock times of a cron expression.
 * @param fields the fields of the expression
 */
export function buildWallTimes(fields: CronFields): WallTimes {
  return {
    times: buildDayTimes(fields.minute.values, fields.hour.values),
    getDayMask: createDayMaskGetter(fields),
  };
}

/** Number of months whose days are kept: those around the present. */
const KEPT_MONTHS = 24;

/**
 * Creates a getter of the days of a month that keeps those of some months.
 * @param isDay  takes days since 1970-01-01
 */
export function memoizeMonths(isDay: (day: number) => boolean): WallTimes["getDayMask"] {
  const getMask = memoize((index: number) => {
    const [first, end] = [Date.UTC(1970, index) / DAY_MS, Date.UTC(1970, index + 1) / DAY_MS];
    let mask = 0;
    for (let day = first; day < end; day += 1) if (isDay(day)) mask |= 1 << (day - first + 1);
    return mask;
  }, KEPT_MONTHS);
  return (year, month) => getMask((year - 1970) * 12 + month);
}

/**
 * Returns the first matching wall-clock time in [from, before).
 * @param from it need not be a whole minute
 */
export function findWallFrom(walls: WallTimes, from: LocalTime, before: LocalTime): LocalTime | undefined {
  const wall = Math.ceil(from / MINUTE_MS) * MINUTE_MS;
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
  if (wall >= before) return undefined;
  if (isPlanned(walls, midnight / DAY_MS)) {
    const rest = findTimeFrom(walls.times, wall - midnight);
    if (rest < DAY_MS) return keepIfBefore(midnight + rest, before);
  }
  const day = findDayFrom(walls, midnight + DAY_MS, before);
  return day === undefined ? undefined : keepIfBefore(day + findTimeFrom(walls.times, 0), before);
}

/** Returns the last matching wall-clock time in [from, until]. */
export function findWallUntil(walls: WallTimes, until: LocalTime, from: LocalTime): LocalTime | undefined {
  const wall = Math.floor(until / MINUTE_MS) * MINUTE_MS;
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
  if (wall < from) return undefined;
  if (isPlanned(walls, midnight / DAY_MS)) {
    const rest = findTimeUntil(walls.times, wall - midnight);
    if (rest >= 0) return keepIfFrom(midnight + rest, from);
  }
  const day = findDayUntil(walls, midnight - DAY_MS, from);
  return day === undefined
    ? undefined
    : keepIfFrom(day + findTimeUntil(walls.times, DAY_MS - MINUTE_MS), from);
}

/** Counts the matching wall-clock times in [from, before). */
export function countWalls(walls: WallTimes, from: LocalTime, before: LocalTime): number {
  if (from >= before) return 0;
  return countBefore(walls, before, from) - countBefore(walls, from, from);
}

/** Counts the matching times from the first of the month of `origin` until before `wall`. */
function countBefore(walls: WallTimes, wall: LocalTime, origin: LocalTime): number {
  const first = new Date(origin);
  const last = new Date(wall);
  const months =
    (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  let days = 0;
  for (let month = 0; month < months; month += 1) {
    const at = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month));
    days += countBits(walls.getDayMask(at.getUTCFullYear(), at.getUTCMonth()));
  }
  const mask = walls.getDayMask(last.getUTCFullYear(), last.getUTCMonth());
  const today = last.getUTCDate();
  days += countBits(mask & ((1 << today) - 1));
  return (
    days * walls.times.perDay +
    ((mask >>> today) & 1) * countTimesBefore(walls.times, wall - Math.floor(wall / DAY_MS) * DAY_MS)
  );
}

/** Returns whether a day is one of a cron expression. @param day  days since 1970-01-01 */
export function isPlanned(walls: WallTimes, day: number): boolean {
  const at = new Date(day * DAY_MS);
  return ((walls.getDayMask(at.getUTCFullYear(), at.getUTCMonth()) >>> at.getUTCDate()) & 1) === 1;
}

/** Returns midnight of the first matching day in [midnight, before). */
function findDayFrom(walls: WallTimes, midnight: LocalTime, before: LocalTime): LocalTime | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) < before) {
    // The shift removes the bits below the day; `>>> 0` keeps bit 31 positive.
    const rest = (walls.getDayMask(year, month) >>> day) >>> 0;
    if (rest !== 0) return Date.UTC(year, month, day + 31 - Math.clz32(rest & -rest));
    month += 1;
    if (month === 12) [year, month] = [year + 1, 0];
    day = 1;
  }
  return undefined;
}

/** Returns midnight of the last matching day, from `midnight` back to `from`. */
function findDayUntil(walls: WallTimes, midnight: LocalTime, from: LocalTime): LocalTime | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) + DAY_MS > from) {
    const rest = walls.getDayMask(year, month) & (0xffff_ffff >>> (31 - day));
    if (rest !== 0) return Date.UTC(year, month, 31 - Math.clz32(rest));
    month -= 1;
    if (month < 0) [year, month] = [year - 1, 11];
    day = 31;
  }
  return undefined;
}

function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

const keepIfBefore = (wall: LocalTime, before: LocalTime) => (wall < before ? wall : undefined);
const keepIfFrom = (wall: LocalTime, from: LocalTime) => (wall >= from ? wall : undefined);

/** Formats the date of a wall-clock time in ms: "2026-03-29". */
export const formatWallDate = (wall: LocalTime) => new Date(wall).toISOString().slice(0, 10);

/** Formats the clock of a wall-clock time in ms: "02:30", or "02:30:15". */
export const formatWallClock = (wall: LocalTime) =>
  new Date(wall).toISOString().slice(11, wall % MINUTE_MS < 1_000 ? 16 : 19);

/** Formats a local time: "2026-03-29 03:00 CEST (+02:00)". Omits the abbreviation if the zone has none in English. */
export function formatLocalTime(zone: string, at: WallTime, offset: Millis): string {
  const short = findAbbreviation(zone, at);
  const wall = at + offset;
  return `${formatWallDate(wall)} ${formatWallClock(wall)}${short === undefined ? "" : ` ${short}`} (${formatOffset(offset)})`;
}

/** Formats an offset: "+02:00". */
export function formatOffset(offset: Millis): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${offset < 0 ? "-" : "+"}${hour}:${minute}`;
}

/** Each variant of English only has the abbreviations of its own continent, so several are tried. */
const getNameFormats = memoize((timeZone: string) =>
  ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA"].map(
    (language) => new Intl.DateTimeFormat(language, { timeZone, timeZoneName: "short" }),
  ),
);

function findAbbreviation(zone: string, at: WallTime): string | undefined {
  for (const format of getNameFormats(zone)) {
    const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
    if (name !== undefined && !/\d/.test(name)) return name;
  }
  return undefined;
}

/** Times of the day that match a cron expression, as lookup tables. */
interface DayTimes {
  /** By minute (0 to 60): the first matching minute from it on; 60 if the hour has no more. */
  readonly minuteFrom: readonly number[];
  /** By minute: the last matching minute before it; -1 if there is none. */
  readonly minuteBefore: readonly number[];
  readonly hourFrom: readonly number[];
  readonly hourBefore: readonly number[];
  readonly perHour: number;
  readonly perDay: number;
}

/**
 * Builds the lookup tables.
 * @param minutes sorted, unique, at least one
 * @param hours sorted, unique, at least one
 */
export function buildDayTimes(minutes: readonly number[], hours: readonly number[]): DayTimes {
  const [minuteFrom, minuteBefore] = getMinuteTables(minutes);
  const [hourFrom, hourBefore] = getHourTables(hours);
  return {
    minuteFrom,
    minuteBefore,
    hourFrom,
    hourBefore,
    perHour: minutes.length,
    perDay: minutes.length * hours.length,
  };
}

// Tables by field values. Cron expressions share fields: 100,000 expressions have few different ones.
const getMinuteTables = memoizeWeakly((values: readonly number[]) => buildTables(values, 60));
const getHourTables = memoizeWeakly((values: readonly number[]) => buildTables(values, 24));

function buildTables(values: readonly number[], size: number): [from: number[], before: number[]] {
  const places = Array.from({ length: size + 1 }, (_, at) => at);
  return [
    places.map((at) => values.find((value) => value >= at) ?? size),
    places.map((at) => values.findLast((value) => value < at) ?? -1),
  ];
}

/** Counts the times of a day before `time`, ms since midnight. */
function countTimesBefore(times: DayTimes, time: number): number {
  let count = 0;
  let at = findTimeFrom(times, 0);
  while (at < time) {
    const hourEnd = (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
    if (hourEnd <= time) {
      count += times.perHour;
      at = findTimeFrom(times, hourEnd);
    } else {
      count += 1;
      at = findTimeFrom(times, at + MINUTE_MS);
    }
  }
  return count;
}

/** Returns the first time of the day from `time` on, ms since midnight; a day or more if there is none. */
function findTimeFrom(times: DayTimes, time: number): number {
  const hour = Math.floor(time / HOUR_MS);
  const minute = Math.ceil((time - hour * HOUR_MS) / MINUTE_MS);
  const first = times.hourFrom[hour] ?? 24;
  if (first > hour) return first * HOUR_MS + (times.minuteFrom[0] ?? 0) * MINUTE_MS;
  const rest = times.minuteFrom[minute] ?? 60;
  if (rest < 60) return hour * HOUR_MS + rest * MINUTE_MS;
  return (times.hourFrom[hour + 1] ?? 24) * HOUR_MS + (times.minuteFrom[0] ?? 0) * MINUTE_MS;
}

/** Returns the last time of the day up to `time`, ms since midnight; negative if there is none. */
function findTimeUntil(times: DayTimes, time: number): number {
  const hour = Math.floor(time / HOUR_MS);
  const minute = Math.floor((time - hour * HOUR_MS) / MINUTE_MS);
  const lastMinute = times.minuteBefore[60] ?? 0;
  const last = times.hourBefore[hour + 1] ?? -1;
  if (last < hour) return last < 0 ? -1 : last * HOUR_MS + lastMinute * MINUTE_MS;
  const rest = times.minuteBefore[minute + 1] ?? -1;
  if (rest >= 0) return hour * HOUR_MS + rest * MINUTE_MS;
  const before = times.hourBefore[hour] ?? -1;
  return before < 0 ? -1 : before * HOUR_MS + lastMinute * MINUTE_MS;
}

/**
 * Creates a function that returns the matching days of a month.
 *
 * If both day of the month and day of the week are restricted, a day matches if either field matches. A field that
 * begins with `*` is not restricted; then both fields must match.
 * @returns a function from a year and a month (0 to 11) to bits 1 to 31
 */
function createDayMaskGetter({ day, month, weekday }: CronFields): (year: number, month: number) => number {
  const months = month.values.reduce((mask, value) => mask | (1 << value), 0);
  const dates = day.values.reduce((mask, date) => mask | (1 << date), 0);
  const isEither = !day.isStar && !weekday.isStar;
  return (year, index) => {
    if (((months >> (index + 1)) & 1) === 0) return 0;
    const length = getMonthLength(year, index);
    const all = getMaskUpTo(length);
    const first = new Date(Date.UTC(year, index)).getUTCDay();
    const ofMonth = (dates | computeSpecialDays(day, first, length)) & all;
    const ofWeek = computeWeekdayMask(weekday, first, length) & all;
    return isEither ? ofMonth | ofWeek : ofMonth & ofWeek;
  };
}

/** Returns a mask of bits 1 to `last`. */
const getMaskUpTo = (last: number) => (last === 31 ? -2 : (1 << (last + 1)) - 2);

function getMonthLength(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

/** @param first  the weekday of the 1st */
function computeSpecialDays(day: CronField, first: number, length: number): number {
  let mask = 0;
  for (const before of day.fromEnd) mask |= before < length ? 1 << (length - before) : 0;
  for (const date of day.nearest) mask |= date <= length ? 1 << findNearestWeekday(date, first, length) : 0;
  return day.isLastWeekday ? mask | (1 << findNearestWeekday(length, first, length)) : mask;
}

/** Returns the weekday, Monday to Friday, that is nearest to a date and in the same month. */
function findNearestWeekday(date: number, first: number, length: number): number {
  const weekday = (first + date - 1) % 7;
  if (weekday === 6) return date === 1 ? 3 : date - 1;
  if (weekday === 0) return date === length ? date - 2 : date + 1;
  return date;
}

function computeWeekdayMask(weekday: CronField, first: number, length: number): number {
  let mask = 0;
  for (const value of weekday.values) mask |= computeDateMask(value, first, undefined);
  for (const [value, nth] of weekday.nths) mask |= computeDateMask(value, first, nth);
  for (const value of weekday.lasts) {
    const date = 1 + ((value - first + 7) % 7);
    mask |= 1 << (date + 7 * Math.floor((length - date) / 7));
  }
  return mask;
}

/**
 * Returns the dates of a weekday in a month that begins on weekday `first`: all, or only the nth. Some dates may be
 * past the end of the month.
 */
function computeDateMask(weekday: number, first: number, nth: number | undefined): number {
  const date = 1 + ((weekday - first + 7) % 7);
  if (nth !== undefined) return date + 7 * (nth - 1) > 31 ? 0 : 1 << (date + 7 * (nth - 1));
  let mask = 0;
  for (let at = date; at <= 31; at += 7) mask |= 1 << at;
  return mask;
}
