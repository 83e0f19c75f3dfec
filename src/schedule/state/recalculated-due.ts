import type { Calendars } from "../calendar/calendar.ts";
import { findCalendarFault } from "../calendar/day-rule.ts";
import type { Definition } from "../definition.ts";
import { createTiming, type Timing } from "../timing.ts";
import type { DueState } from "./due.ts";
import { moveNextOccurrence } from "./due-transitions.ts";

/** All calendars before and after a change. */
interface CalendarSwap {
  before: Calendars;
  after: Calendars;
}

/**
 * Returns the state of a schedule after a change of its calendars. An occurrence that is already due stays: the worker
 * that claims it applies the calendars. The next occurrence is searched from now on, but not before the one that was
 * skipped last, for example because of `--start`. One that an import has put elsewhere stays, unless its day is excluded.
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
  const old = createOldTiming(id, definition, calendars.before);
  const next = findNext(timing, due.next, {
    now,
    old,
    isMoved: (definition.ifExcluded ?? "skip") !== "skip",
  });
  return next === due.next ? due : moveNextOccurrence(due, next, timing.lag);
}

/** Returns the timing before the change; undefined if a calendar could not be read. */
function createOldTiming(id: string, definition: Definition, calendars: Calendars): Timing | undefined {
  const fault = findCalendarFault(definition, calendars);
  return fault === undefined ? createTiming(id, definition, calendars) : undefined;
}

interface SearchBasis {
  now: number;
  old: Timing | undefined;
  /** Whether occurrences on excluded days move. */
  isMoved: boolean;
}

function findNext(
  timing: Timing,
  next: number | undefined,
  { now, old, isMoved }: SearchBasis,
): number | undefined {
  if (next === undefined) return timing.findFrom(now);
  if (old?.findFrom(next) !== next) return timing.isExcluded(next) ? timing.findFrom(next) : next;
  const before = old.findUntil(next - 1) ?? Number.NEGATIVE_INFINITY;
  if (before < now) return timing.findFrom(Math.min(now, next));
  return isMoved ? findNearestTime(timing, next, before) : timing.findFrom(before + 1);
}

/** Returns the occurrence that is nearest to another one: to that which it was before it moved. */
function findNearestTime(timing: Timing, next: number, before: number): number | undefined {
  const [from, until] = [timing.findFrom(next), timing.findUntil(next)];
  const isNearer = until !== undefined && (from === undefined || next - until < from - next);
  return isNearer && until > before ? until : from;
}
