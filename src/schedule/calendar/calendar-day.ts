import { type ParseResult, quoteText } from "../../base/text.ts";

// A day is a whole number: the days since 1970-01-01 in the calendar, independent of any time zone.

const DAY = 86_400_000;

/** One entry of a calendar: the days that it names. Weekdays are 0 (Sunday) to 6, months 0 to 11. */
export type CalendarEntry =
  | { readonly kind: "range"; readonly from: number; readonly until: number }
  | { readonly kind: "yearly"; readonly month: number; readonly date: number }
  | { readonly kind: "weekday"; readonly weekday: number };

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** How an entry is written, for messages. */
const ENTRY_FORM =
  "a date 2026-12-25, a date of each year 12-25, a range 2026-12-24..2027-01-01, or a weekday such as sat";

/**
 * Parses an entry of a calendar: `2026-12-25`, `12-25` (each year), `2026-12-24..2027-01-01` or `sat`.
 * @returns the fault if the text is none of them, with the text received
 */
export function parseCalendarEntry(text: string): ParseResult<CalendarEntry> {
  const entry = parseWeekday(text) ?? parseYearly(text) ?? parseDates(text);
  if (entry === undefined) return { fault: `${quoteText(text)} is not a day: write ${ENTRY_FORM}` };
  if (entry.kind === "range" && entry.until < entry.from)
    return { fault: `${quoteText(text)} ends before it begins` };
  return { value: entry };
}

/** Formats a day: `2026-12-25`. */
export function formatDay(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** Returns the day of a wall-clock time in ms, as in `findOffsetPeriod`. */
export const toDay = (wall: number) => Math.floor(wall / DAY);

/** Returns the weekday of a day, 0 (Sunday) to 6. 1970-01-01 was a Thursday. */
export const getWeekdayOf = (day: number) => (((day + 4) % 7) + 7) % 7;

function parseWeekday(text: string): CalendarEntry | undefined {
  const weekday = WEEKDAYS.indexOf(text.toLowerCase());
  return weekday < 0 ? undefined : { kind: "weekday", weekday };
}

function parseYearly(text: string): CalendarEntry | undefined {
  if (!/^\d\d-\d\d$/.test(text)) return undefined;
  const day = parseDay(`2000-${text}`); // a leap year: 02-29 exists
  if (day === undefined) return undefined;
  const at = new Date(day * DAY);
  return { kind: "yearly", month: at.getUTCMonth(), date: at.getUTCDate() };
}

function parseDates(text: string): CalendarEntry | undefined {
  const [first = "", last = first, ...more] = text.split("..");
  const [from, until] = [parseDay(first), parseDay(last)];
  if (from === undefined || until === undefined || more.length > 0) return undefined;
  return { kind: "range", from, until };
}

/** Parses a day: `2026-12-25`. @returns undefined if it is none */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00Z`);
  // `Date` accepts February 31 as March 3.
  return Number.isNaN(at) || formatDay(at / DAY) !== text ? undefined : at / DAY;
}
