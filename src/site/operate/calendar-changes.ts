import { UsageError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";
import type { Calendar } from "../../schedule/calendar/calendar.ts";
import { listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import type { ScheduleReadResult, StoredCalendar } from "./stored-schedules.ts";

export interface CalendarChange {
  readonly name: string;
  readonly before: StoredCalendar | undefined;
  /** Undefined: it is deleted. */
  readonly after: Calendar | undefined;
}

/** Largest number of schedules that a message names. */
const MAX_NAMED_SCHEDULES = 10;

/** Formats a change of a calendar: `calendar holidays added: 12 entries`. */
export function formatCalendarChange({ name, before, after }: CalendarChange): string {
  const was = before && "value" in before ? before.value.days : [];
  if (after === undefined) return `calendar ${name} deleted: ${formatEntries(was)}`;
  if (before === undefined) return `calendar ${name} added: ${formatEntries(after.days)}`;
  const added = after.days.filter((day) => !was.includes(day));
  const removed = was.filter((day) => !after.days.includes(day));
  const parts = [
    ...(added.length === 0 ? [] : [`added ${formatEntries(added)}`]),
    ...(removed.length === 0 ? [] : [`removed ${formatEntries(removed)}`]),
  ];
  return `calendar ${name} changed: ${parts.join("; ") || "its note"}`;
}

/** Formats the first entries of a calendar, and how many more there are. */
function formatEntries(days: readonly string[]): string {
  const more = days.length > MAX_NAMED_SCHEDULES ? ` and ${days.length - MAX_NAMED_SCHEDULES} more` : "";
  return `${days.slice(0, MAX_NAMED_SCHEDULES).join(", ") || "no days"}${more}`;
}

export function listUsers({ schedules }: ScheduleReadResult, name: string): string[] {
  return [...schedules.values()]
    .filter(({ definition }) => definition !== undefined && listCalendarNames(definition).includes(name))
    .map(({ id }) => id);
}

/** Creates the error for a calendar that schedules use and that would be deleted. */
export function createUsedError(name: string, users: readonly string[]): UsageError {
  return new UsageError(
    `calendar ${quoteText(name)} cannot be deleted: ${users.length === 1 ? "schedule" : "schedules"} ${formatEntries(users)} ${users.length === 1 ? "uses" : "use"} it`,
  );
}
