import type { Calendars } from "../calendar/calendar.ts";
import { findCalendarFault } from "../calendar/day-rule.ts";
import type { Definition } from "../definition.ts";
import { createTiming, type Timing } from "../timing.ts";
import type { DueState } from "./due.ts";
import { moveNextOccurrence } from "./due-transitions.ts";

/** All calendars before and after a change. */
export interface CalendarSwap {
  before: Calendars;
  after: Calendars;
}

/**
 * Returns the state of a schedule after a change of its calendars. An occurrence that is already due stays: the worker
 * that claims it applies the calendars. A first occurrence that `--start` or an import has put elsewhere stays there,
 * unless its day is excluded now.
 * @param now  wall clock, ms since the epoch
 * @returns `due` itself if nothing changes
 * @throws ConfigError if a calendar is missing or cannot be read after the change; CronError, UsageError
 */
export function computeRecalculatedDue(
  id: string,
  definition: Definition,
  due: DueState,
  now: number,
  calendars: CalendarSwap,
): DueState {
  if (due.next !== undefined && due.runAt <= now) return due;
  const timing = createTiming(id, definition, calendars.after);
  const from = Math.min(now, due.next ?? now);
  const isUsual = findUsualNext(id, definition, from, calendars.before) === due.next;
  const next = isUsual ? timing.findFrom(from) : findAllowed(timing, due.next);
  return next === due.next ? due : moveNextOccurrence(due, next, timing.lag);
}

/** Returns the next occurrence as the calendars were; undefined also if they could not be read. */
function findUsualNext(
  id: string,
  definition: Definition,
  from: number,
  calendars: Calendars,
): number | undefined {
  if (findCalendarFault(definition, calendars) !== undefined) return undefined;
  return createTiming(id, definition, calendars).findFrom(from);
}

function findAllowed(timing: Timing, next: number | undefined): number | undefined {
  return next !== undefined && timing.isExcluded(next) ? timing.findFrom(next) : next;
}
