import ICAL from "ical.js";
import { DAY_MS } from "../../../core/base/clock.ts";
import { ConfigError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { formatDay } from "../../../schedule/calendar/calendar.ts";

// Only `calendar import` may load this file: it loads the package ical.js.

/** Largest number of occurrences of one event that are examined, also before `from`. */
const MOST_OCCURRENCES = 20_000;

/** Which days of events that repeat are wanted, days since 1970-01-01. */
interface DaySpan {
  from: number;
  until: number;
}

/**
 * Reads the days on which events of an iCalendar text take place, on the wall clock of each event.
 * @returns entries of a calendar
 * @throws ConfigError if the text is not iCalendar, or an event repeats too often
 */
export function readICalendarDays(text: string, span: DaySpan): string[] {
  const events = parseEvents(text).filter((event) => !isCancelled(event));
  const days = new Set<number>();
  const yearly: string[] = [];
  for (const event of events) {
    const date = findYearlyDate(event);
    if (date !== undefined) yearly.push(date);
    else for (const day of listEventDays(event, span)) days.add(day);
  }
  return [...yearly, ...formatRanges([...days].sort((a, b) => a - b))];
}

function parseEvents(text: string): ICAL.Event[] {
  try {
    const parsed = ICAL.parse(text);
    const roots = (Array.isArray(parsed[0]) ? parsed : [parsed]) as ConstructorParameters<
      typeof ICAL.Component
    >[0][];
    const all = roots.flatMap((root) => new ICAL.Component(root).getAllSubcomponents("vevent"));
    return relateExceptions(all.map((one) => new ICAL.Event(one)));
  } catch (cause) {
    throw new ConfigError(`the file is not iCalendar: ${(cause as Error).message}`, { cause });
  }
}

/** Adds the changed occurrences of events that repeat to their events. */
function relateExceptions(events: readonly ICAL.Event[]): ICAL.Event[] {
  const masters = new Map(
    events.filter((event) => !event.isRecurrenceException()).map((event) => [event.uid, event]),
  );
  return events.filter((event) => {
    if (!event.isRecurrenceException()) return true;
    const master = masters.get(event.uid);
    master?.relateException(event);
    return master === undefined;
  });
}

function isCancelled({ component }: ICAL.Event): boolean {
  return String(component.getFirstPropertyValue("status") ?? "").toUpperCase() === "CANCELLED";
}

/** Returns the date of an event that takes place on it in each year: `12-25`. Undefined for any other event. */
function findYearlyDate(event: ICAL.Event): string | undefined {
  const { component, startDate } = event;
  const rules = component.getAllProperties("rrule");
  const hasMore = ["rdate", "exdate", "exrule"].some((name) => component.hasProperty(name));
  const rule = rules.length === 1 ? rules[0]?.getFirstValue() : undefined;
  if (!(rule instanceof ICAL.Recur) || hasMore || Object.keys(event.exceptions).length > 0) return undefined;
  if (rule.freq !== "YEARLY" || rule.interval !== 1 || rule.until !== null || rule.count !== null)
    return undefined;
  const plain = { BYMONTH: startDate.month, BYMONTHDAY: startDate.day } as const;
  const isPlain = Object.entries(rule.parts).every(
    ([part, values]) => part in plain && String(values) === String(plain[part as keyof typeof plain]),
  );
  const [first, ...more] = listDaysBetween(startDate, event.endDate);
  return isPlain && first !== undefined && more.length === 0 ? formatDay(first).slice(5) : undefined;
}

function listEventDays(event: ICAL.Event, span: DaySpan): number[] {
  if (!event.isRecurring()) return listDaysBetween(event.startDate, event.endDate);
  const days: number[] = [];
  const iterator = event.iterator();
  let left = MOST_OCCURRENCES;
  for (let at = iterator.next(); at && toDayNumber(at) <= span.until; at = iterator.next()) {
    left -= 1;
    if (left < 0)
      throw new ConfigError(
        `event ${quoteText(event.summary ?? event.uid)} repeats more than ${MOST_OCCURRENCES} times; use weekdays or ranges instead`,
      );
    const { startDate, endDate, item } = event.getOccurrenceDetails(at);
    if (!isCancelled(item))
      days.push(
        ...listDaysBetween(startDate, endDate).filter((day) => day >= span.from && day <= span.until),
      );
  }
  return days;
}

/** Lists the days from a start to an end, which is exclusive. An event without a length takes place on one day. */
function listDaysBetween(start: ICAL.Time, end: ICAL.Time): number[] {
  const first = toDayNumber(start);
  const endsAtMidnight = end.isDate || (end.hour === 0 && end.minute === 0 && end.second === 0);
  const last = Math.max(first, toDayNumber(end) - (endsAtMidnight ? 1 : 0));
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function toDayNumber({ year, month, day }: ICAL.Time): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

/** Formats sorted days as dates and ranges. */
function formatRanges(days: readonly number[]): string[] {
  const ranges: [from: number, until: number][] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === day - 1) last[1] = day;
    else ranges.push([day, day]);
  }
  return ranges.map(([from, until]) =>
    from === until ? formatDay(from) : `${formatDay(from)}..${formatDay(until)}`,
  );
}
