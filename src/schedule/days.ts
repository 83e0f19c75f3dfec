import type { Field } from "./cron-field.ts";

export interface DayFields {
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

const DAY = 86_400_000;

/**
 * Which days of a month pass.
 *
 * Where both day of the month and day of the week are restricted, either will do; a field that begins with `*` is not
 * restricted, and then both must hold.
 * @returns from a year and a month (0 to 11) to bits 1 to 31
 */
export function daysOf({ day, month, weekday }: DayFields): (year: number, month: number) => number {
  const months = month.values.reduce((mask, value) => mask | (1 << value), 0);
  const dates = day.values.reduce((mask, date) => mask | (1 << date), 0);
  const isEither = !day.isStar && !weekday.isStar;
  return (year, index) => {
    if (((months >> (index + 1)) & 1) === 0) return 0;
    const length = lengthOf(year, index);
    const all = bitsTo(length);
    const ofMonth = (dates | (day.isLast ? 1 << length : 0)) & all;
    const ofWeek = weekdaysOf(weekday, year, index, length) & all;
    return isEither ? ofMonth | ofWeek : ofMonth & ofWeek;
  };
}

/** Bits 1 to a last one. */
const bitsTo = (last: number) => (last === 31 ? -2 : (1 << (last + 1)) - 2);

function lengthOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

function weekdaysOf(weekday: Field, year: number, month: number, length: number): number {
  const first = weekdayOf(Date.UTC(year, month));
  let mask = 0;
  for (const value of weekday.values) mask |= datesOf(value, first, weekday.nth);
  for (const value of weekday.lasts) {
    const date = 1 + ((value - first + 7) % 7);
    mask |= 1 << (date + 7 * Math.floor((length - date) / 7));
  }
  return mask;
}

/** Dates of a weekday in a month that begins on `first`: all, or the nth. Some may be past the month's end. */
function datesOf(weekday: number, first: number, nth: number | undefined): number {
  const date = 1 + ((weekday - first + 7) % 7);
  if (nth !== undefined) return date + 7 * (nth - 1) > 31 ? 0 : 1 << (date + 7 * (nth - 1));
  let mask = 0;
  for (let at = date; at <= 31; at += 7) mask |= 1 << at;
  return mask;
}

/** The first of January 1970 was a Thursday. */
const weekdayOf = (midnight: number) => (((midnight / DAY + 4) % 7) + 7) % 7;
