import type { CronField, CronFields } from "./cron-field.ts";

const DAY = 86_400_000;

/**
 * Creates a function that returns the matching days of a month.
 *
 * If both day of the month and day of the week are restricted, a day matches if either field matches. A field that
 * begins with `*` is not restricted; then both fields must match.
 * @returns a function from a year and a month (0 to 11) to bits 1 to 31
 */
export function createDayMaskGetter({
  day,
  month,
  weekday,
}: CronFields): (year: number, month: number) => number {
  const months = month.values.reduce((mask, value) => mask | (1 << value), 0);
  const dates = day.values.reduce((mask, date) => mask | (1 << date), 0);
  const isEither = !day.isStar && !weekday.isStar;
  return (year, index) => {
    if (((months >> (index + 1)) & 1) === 0) return 0;
    const length = getMonthLength(year, index);
    const all = getMaskUpTo(length);
    const ofMonth = (dates | computeSpecialDays(day, getWeekday(Date.UTC(year, index)), length)) & all;
    const ofWeek = computeWeekdayMask(weekday, year, index, length) & all;
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

function computeWeekdayMask(weekday: CronField, year: number, month: number, length: number): number {
  const first = getWeekday(Date.UTC(year, month));
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

/** 1 January 1970 was a Thursday. */
const getWeekday = (midnight: number) => (((midnight / DAY + 4) % 7) + 7) % 7;
