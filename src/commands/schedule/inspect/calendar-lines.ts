import { quoteShellWord } from "../../../base/shell.ts";
import { formatEntries } from "../../../operate/calendar-mutation.ts";
import type { CalendarAdditions } from "../../../operate/stored-calendars.ts";
import type { Calendars } from "../../../schedule/calendar/calendar.ts";
import { type CalendarFields, findCalendarFault } from "../../../schedule/calendar/day-rule.ts";
import { listExcludedDays, type PlannedFields } from "../../../schedule/calendar/upcoming-days.ts";

/** Lists the calendars that an import adds, and those that it does not change. */
export function listCalendarNotes({
  added,
  different,
}: Pick<CalendarAdditions, "added" | "different">): string[] {
  return [
    ...added.map(([name, { days }]) => `calendar ${name} is added: ${formatEntries(days)}`),
    ...different.map(
      (name) =>
        `calendar ${name} differs from that of the file and is not changed; to change it: signalbox calendar add ${quoteShellWord(name)} --replace DAY…`,
    ),
  ];
}

/** Days ahead in which excluded days are listed. */
const HORIZON = 366;
/** Largest number of excluded days that are named. */
const NAMED = 5;

const RULES = {
  skip: "what is due on another day is skipped",
  next: "what is due on another day moves to the next day that is allowed",
  previous: "what is due on another day moves to the day before that is allowed",
};

/** Describes the calendars of a schedule: `not on days of holidays; what is due on another day is skipped`. */
export function describeCalendars({ except = [], only = [], ifExcluded = "skip" }: CalendarFields): string[] {
  const parts = [
    ...(only.length === 0 ? [] : [`only on days of ${only.join(", ")}`]),
    ...(except.length === 0 ? [] : [`not on days of ${except.join(", ")}`]),
  ];
  return parts.length === 0 ? [] : [`${parts.join(", ")}; ${RULES[ifExcluded]}`];
}

/** Lists the next days that calendars exclude, or says why the schedule does not fire. @param now  ms since the epoch */
export function describeExcludedDays(fields: PlannedFields, calendars: Calendars, now: number): string[] {
  const fault = findCalendarFault(fields, calendars);
  if (fault !== undefined) return [`it does not fire: ${fault}`];
  const days = listExcludedDays(fields, calendars, now, HORIZON);
  if (days.length === 0) return [];
  const more = days.length > NAMED ? ` and ${days.length - NAMED} more in a year` : "";
  return [`next excluded days: ${days.slice(0, NAMED).join(", ")}${more}`];
}
