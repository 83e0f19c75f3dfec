import { bisect } from "../../core/base/bisect.ts";
import { DAY_MS, type LocalTime } from "../../core/base/clock.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import { parseObject } from "../../core/base/parse-json.ts";
import { type ParseResult, quoteText } from "../../core/base/text.ts";
import { isText, isTexts } from "../json-fields.ts";

/** A named set of days, stored under `config/calendars/<name>`. */
export interface Calendar {
  /** As written, see `parseCalendarEntry`. */
  readonly days: readonly string[];
  /** Shown to others. */
  readonly note?: string;
  /** The source that owns it: `signalbox apply --owner`. */
  readonly source?: string;
}

/** Calendars by name; one that cannot be read has a fault. */
export type Calendars = ReadonlyMap<string, ParseResult<Calendar>>;

export const NO_CALENDARS: Calendars = new Map();

/** Largest number of entries of a calendar: its value must fit into one transaction with those of its schedules. */
export const MOST_ENTRIES = 5_000;

/** Returns the value to store in etcd, for `parseCalendar`. */
export function formatCalendar({ days, note, source }: Calendar): string {
  return JSON.stringify({ v: 1, days, note, source });
}

/** Parses a calendar from etcd. One bad day makes all of it unreadable: a schedule must not run on that day. */
export function parseCalendar(text: string): ParseResult<Calendar> {
  const { days, note, source } = parseObject(text);
  if (!isTexts(days)) return { fault: 'it is not {"days": […]}' };
  const fault = findDayFault(days);
  if (fault !== undefined) return { fault };
  return { value: { days, ...(isText(note) && { note }), ...(isText(source) && { source }) } };
}

/** Returns the first fault of entries, or that there are too many. */
export function findDayFault(days: readonly string[]): string | undefined {
  if (days.length > MOST_ENTRIES)
    return `it has ${days.length} entries; at most ${MOST_ENTRIES} are allowed: use ranges`;
  for (const day of days) {
    const parsed = parseCalendarEntry(day);
    if ("fault" in parsed) return parsed.fault;
  }
  return undefined;
}

/**
 * Returns the days of a calendar. Entries that are not valid are left out: `parseCalendar` refuses them. Many schedules use the
 * same calendar.
 */
export const getDayMatcher = memoizeWeakly(({ days }: Calendar) => {
  const parsed = days.map(parseCalendarEntry);
  return buildDayMatcher(parsed.flatMap((one) => ("value" in one ? [one.value] : [])));
});

/** Sorts the entries of a calendar, and removes duplicates: weekdays, dates of each year, then dates. */
export function normalizeDays(days: readonly string[]): string[] {
  const order = (day: string) => (/^\d{4}/.test(day) ? 2 : /^\d/.test(day) ? 1 : 0);
  return [...new Set(days.map((day) => day.toLowerCase()))].sort(
    (a, b) => order(a) - order(b) || (a < b ? -1 : a > b ? 1 : 0),
  );
}

/** Returns whether a day is in a calendar. @param day  days since 1970-01-01 */
export type DayMatcher = (day: number) => boolean;

/** Builds a matcher of the days that any of the entries names. A lookup takes logarithmic time. */
function buildDayMatcher(entries: readonly CalendarEntry[]): DayMatcher {
  const weekdays = new Set<number>();
  const yearly = new Set<number>();
  const ranges: DayRange[] = [];
  for (const entry of entries) {
    if (entry.kind === "weekday") weekdays.add(entry.weekday);
    else if (entry.kind === "yearly") yearly.add(32 * entry.month + entry.date);
    else ranges.push(entry);
  }
  const merged = mergeRanges(ranges);
  return (day) => weekdays.has(getWeekdayOf(day)) || hasYearly(yearly, day) || isInRanges(merged, day);
}

interface DayRange {
  readonly from: number;
  readonly until: number;
}

function hasYearly(yearly: ReadonlySet<number>, day: number): boolean {
  if (yearly.size === 0) return false;
  const at = new Date(day * DAY_MS);
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
  const at = bisect(ranges.length, (index) => (ranges[index]?.until ?? day) < day);
  return (ranges[at]?.from ?? Infinity) <= day;
}

/**
 * One entry of a calendar: the days that it names. A day is a whole number: the days since 1970-01-01 in the calendar,
 * independent of any time zone. Weekdays are 0 (Sunday) to 6, months 0 to 11.
 */
type CalendarEntry =
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
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day of a wall-clock time in ms, as in `findOffsetPeriod`. */
export const toDay = (wall: LocalTime) => Math.floor(wall / DAY_MS);

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
  const at = new Date(day * DAY_MS);
  return { kind: "yearly", month: at.getUTCMonth(), date: at.getUTCDate() };
}

function parseDates(text: string): CalendarEntry | undefined {
  const [first = "", last = first, ...more] = text.split("..");
  const [from, until] = [parseDay(first), parseDay(last)];
  if (from === undefined || until === undefined || more.length > 0) return undefined;
  return { kind: "range", from, until };
}

/** Parses a day: `2026-12-25`. @returns undefined if it is malformed */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00Z`);
  // `Date` accepts February 31 as March 3.
  return Number.isNaN(at) || formatDay(at / DAY_MS) !== text ? undefined : at / DAY_MS;
}
