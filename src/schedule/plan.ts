import type { Definition } from "./definition.ts";
import type { Due, Open } from "./due.ts";
import { timingOf } from "./timing.ts";

// What operators' acts make of where a schedule is. All instants in ms since the epoch.

/** Occurrences that may stand open; more triggers are refused. */
export const MOST_OPEN = 100;

/** What may be said of a new schedule's first occurrence. */
export interface First {
  /** The first occurrence is the first at or after this. Default: now. */
  start?: number;
  /** When the first run, and only that, may be taken; it may lie before its nominal time. */
  at?: number;
}

/** Where a new schedule starts. @throws CronError, UsageError */
export function firstDue(
  id: string,
  definition: Definition,
  now: number,
  { start = now, at }: First = {},
): Due {
  const { lag, from } = timingOf(id, definition);
  const next = from(start);
  return next === undefined ? ended([]) : { next, runAt: at ?? next + lag, open: [] };
}

/**
 * Where a schedule is after its definition was changed. An occurrence that is due already is kept; otherwise a new cron text
 * or time zone counts from now on. @throws CronError, UsageError
 */
export function modified(id: string, before: Definition, after: Definition, due: Due, now: number): Due {
  const { lag, from } = timingOf(id, after);
  const isPending = due.next !== undefined && due.runAt <= now;
  const isSameTime =
    before.cron === after.cron && before.timezone === after.timezone && before.end === after.end;
  if (isPending) return due;
  if (!isSameTime) return at(due, from(now), lag);
  const isSameLag = before.delay === after.delay && before.jitter === after.jitter;
  return isSameLag ? due : at(due, due.next, lag);
}

/** Where a schedule is when a pause is ended: what it stopped is not made up for. @throws CronError, UsageError */
export function resumed(id: string, definition: Definition, due: Due, now: number): Due {
  const { lag, from } = timingOf(id, definition);
  return due.next === undefined || due.runAt > now ? due : at(due, from(now - lag), lag);
}

/**
 * A schedule with one run more, to be started at once beside its plan.
 * @param scheduled  the nominal time that the run gets, of a dead letter for one. Default: now
 * @returns undefined where too many stand open, or that one already does
 */
export function triggered(due: Due, now: number, scheduled?: number): Due | undefined {
  const isTaken = (instant: number) =>
    due.next === instant || due.open.some((open) => open.scheduled === instant);
  if (due.open.length >= MOST_OPEN || (scheduled !== undefined && isTaken(scheduled))) return undefined;
  let instant = scheduled ?? now;
  while (isTaken(instant)) instant += 1;
  const open: Open = { scheduled: instant, runAt: now, attempt: 0, failures: 0, kind: "trigger" };
  return { ...due, open: [...due.open, open] };
}

/** Moves the next occurrence. @param next  undefined: there is none any more. @param lag  ms */
export function at(due: Due, next: number | undefined, lag: number): Due {
  const { next: _, ...rest } = due;
  return next === undefined ? { ...rest, ...ended(due.open) } : { ...rest, next, runAt: next + lag };
}

function ended(open: readonly Open[]): Due {
  return { runAt: 0, open };
}
