import type { ParseResult } from "../../base/text.ts";
import { isText, isTexts, parseJsonFields } from "../json-fields.ts";
import { parseCalendarEntry } from "./calendar-day.ts";
import { buildDaySet, type DaySet } from "./day-set.ts";

/** A named set of days, stored under `config/calendars/<name>`. */
export interface Calendar {
  /** As written, see `parseCalendarEntry`. */
  readonly days: readonly string[];
  /** Shown to others. */
  readonly note?: string;
}

/** Calendars by name; one that cannot be read has a fault. */
export type Calendars = ReadonlyMap<string, ParseResult<Calendar>>;

export const NO_CALENDARS: Calendars = new Map();

/** Largest number of entries of a calendar: its value must fit into one transaction with those of its schedules. */
export const MOST_ENTRIES = 5_000;

/** Returns the value to store in etcd, for `parseCalendar`. */
export function formatCalendar({ days, note }: Calendar): string {
  return JSON.stringify({ v: 1, days, ...(note !== undefined && { note }) });
}

/** Parses a calendar from etcd. One bad day makes all of it unreadable: a schedule must not run on that day. */
export function parseCalendar(text: string): ParseResult<Calendar> {
  const { days, note } = parseJsonFields(text) ?? {};
  if (!isTexts(days)) return { fault: 'it is not {"days": […]}' };
  const fault = findDayFault(days);
  if (fault !== undefined) return { fault };
  return { value: { days, ...(isText(note) && { note }) } };
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

/** Day sets by calendar. Many schedules use the same one. */
const sets = new WeakMap<Calendar, DaySet>();

/** Returns the days of a calendar. Entries that are not valid are left out: `parseCalendar` refuses them. */
export function getDaySet(calendar: Calendar): DaySet {
  let set = sets.get(calendar);
  if (set === undefined) {
    const parsed = calendar.days.map(parseCalendarEntry);
    set = buildDaySet(parsed.flatMap((one) => ("value" in one ? [one.value] : [])));
    sets.set(calendar, set);
  }
  return set;
}

/** Sorts the entries of a calendar, and removes duplicates: weekdays, dates of each year, then dates. */
export function normalizeDays(days: readonly string[]): string[] {
  const order = (day: string) => (/^\d{4}/.test(day) ? 2 : /^\d/.test(day) ? 1 : 0);
  return [...new Set(days.map((day) => day.toLowerCase()))].sort(
    (a, b) => order(a) - order(b) || (a < b ? -1 : a > b ? 1 : 0),
  );
}
