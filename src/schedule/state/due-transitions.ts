import type { Millis, WallTime } from "../../core/base/clock.ts";
import { UsageError } from "../../core/base/errors.ts";
import { type Calendars, NO_CALENDARS } from "../calendar/calendar.ts";
import { findCalendarFault } from "../calendar/day-rule.ts";
import { type Definition, isOnce, runsAtBoot } from "../definition.ts";
import { createTiming, type Timing } from "../timing.ts";
import type { DueState, OpenOccurrence } from "./due.ts";

// Changes of the state of a schedule by operators. All instants in ms since the epoch.

/** Maximum number of open occurrences; further triggers are refused. */
export const MAX_OPEN_OCCURRENCES = 100;

/** Options for the first occurrence of a new schedule. */
export interface FirstOccurrenceOptions {
  /** The first occurrence is the first one at or after this instant. Default: now. */
  start?: WallTime;
  /** When the first run may be claimed. It applies only to that run, and may be before its scheduled time. */
  at?: WallTime;
}

/**
 * Returns the initial state of a new schedule.
 * @param calendars  all calendars; needed only if the schedule names some, as below
 * @throws CronError, UsageError; ConfigError if one of its calendars is missing or cannot be read, as below
 */
export function computeFirstDue(
  id: string,
  definition: Definition,
  now: WallTime,
  { start = now, at }: FirstOccurrenceOptions = {},
  calendars: Calendars = NO_CALENDARS,
): DueState {
  const { lag, findFrom } = createTiming(id, definition, calendars);
  if (runsAtBoot(definition)) {
    if (at !== undefined)
      throw new UsageError("at has no effect on a schedule of @reboot: leave it out, or set delay (--delay)");
    return { ...buildEndedDue([]), boots: { since: start, ids: [] } };
  }
  const next = findFrom(start);
  return next === undefined ? buildEndedDue([]) : { next, runAt: at ?? next + lag, open: [] };
}

/** Fields of a definition that decide when it is due. */
const TIME_FIELDS = ["cron", "timezone", "end", "except", "only", "ifExcluded"] as const;

/** Returns whether two definitions are due at the same times, apart from the delay. */
export function hasSameTimes(one: Definition, other: Definition): boolean {
  return TIME_FIELDS.every((field) => JSON.stringify(one[field]) === JSON.stringify(other[field]));
}

/**
 * Returns the state of a schedule after a change of its definition. An occurrence that is already due is kept;
 * otherwise a new cron expression or time zone counts from now on.
 * @throws CronError, UsageError
 */
export function computeModifiedDue(
  id: string,
  before: Definition,
  after: Definition,
  due: DueState,
  now: WallTime,
  calendars: Calendars = NO_CALENDARS,
): DueState {
  const timing = createTiming(id, after, calendars);
  const { lag, findFrom } = timing;
  const isPending = due.next !== undefined && due.runAt <= now;
  if (isPending) return due;
  if (!hasSameTimes(before, after)) {
    const { boots: _, ...rest } = due;
    const begun = runsAtBoot(after) ? { ...rest, boots: { since: now, ids: due.boots?.ids ?? [] } } : rest;
    return planAfterEnd(timing, moveNextOccurrence(begun, findFrom(now), lag), due.last?.endedAt);
  }
  const isSameLag = before.delay === after.delay && before.jitter === after.jitter;
  return isSameLag ? due : moveNextOccurrence(due, due.next, lag);
}

/**
 * Returns the state of a schedule after a pause ends. Occurrences that the pause prevented do not run, unless the schedule is
 * due once: then it runs now.
 * @throws CronError, UsageError
 */
export function computeResumedDue(
  id: string,
  definition: Definition,
  paused: DueState,
  now: WallTime,
  calendars: Calendars = NO_CALENDARS,
): DueState {
  const { lag, findFrom } = createTiming(id, definition, calendars);
  const { pause, failed, skipped, ...rest } = paused;
  const due = (pause ?? failed ?? skipped) === undefined ? paused : rest;
  return due.next === undefined || due.runAt > now || isOnce(definition)
    ? due
    : moveNextOccurrence(due, findFrom(now - lag), lag);
}

/** What a triggered run gets beside what its schedule defines. */
export interface TriggeredRun {
  /** Scheduled time of the run, for example that of a dead letter. Default: now. */
  scheduled?: WallTime | undefined;
  /** Data for the handler, instead of that of the definition. */
  data?: unknown;
  /** Variables of the command, in addition to those of the definition. */
  env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Adds a run that starts at once, independent of the plan.
 * @returns undefined if there are too many open occurrences, or this one is already open or next
 */
export function addTriggeredRun(
  due: DueState,
  now: WallTime,
  { scheduled, data, env }: TriggeredRun = {},
): DueState | undefined {
  const instant = findFreeTime(due, scheduled ?? now);
  if (due.open.length >= MAX_OPEN_OCCURRENCES || (scheduled !== undefined && instant !== scheduled))
    return undefined;
  const open: OpenOccurrence = {
    scheduled: instant,
    runAt: now,
    attempt: 0,
    failures: 0,
    kind: "trigger",
    ...(data !== undefined && { data }),
    ...(env !== undefined && { env: { ...env } }),
  };
  return { ...due, open: [...due.open, open] };
}

/** Returns the first instant from `wanted` on that is not the scheduled time of an open or the next occurrence. */
export function findFreeTime(due: Pick<DueState, "next" | "open">, wanted: number): number {
  const taken = new Set([due.next, ...due.open.map(({ scheduled }) => scheduled)]);
  let instant = wanted;
  while (taken.has(instant)) instant += 1;
  return instant;
}

/**
 * Moves the next occurrence.
 * @param next undefined if there is none
 * @param lag ms
 */
export function moveNextOccurrence(due: DueState, next: WallTime | undefined, lag: Millis): DueState {
  const { next: _, ...rest } = due;
  return next === undefined ? { ...rest, ...buildEndedDue(due.open) } : { ...rest, next, runAt: next + lag };
}

/**
 * Plans the next occurrence of a schedule that waits after the end of its last run, unless another one runs or waits for a retry.
 * Other schedules do not change.
 * @param endedAt  undefined if nothing has ended
 */
export function planAfterEnd(
  { wait, lag, findFrom }: Timing,
  due: DueState,
  endedAt: WallTime | undefined,
): DueState {
  if (wait === undefined || endedAt === undefined || due.open.some(({ kind }) => kind === "due")) return due;
  return moveNextOccurrence(due, findFrom(endedAt + wait), lag);
}

function buildEndedDue(open: readonly OpenOccurrence[]): DueState {
  return { runAt: 0, open };
}

/**
 * Returns the state of a schedule after a change of its calendars. An occurrence that is already due stays: the worker
 * that claims it applies the calendars. The next occurrence is searched from now on, but not before the one that was
 * skipped last, for example because of `--start`. One that an import has put elsewhere stays, unless its day is excluded.
 * @returns `due` itself if nothing changes
 * @throws ConfigError if a calendar is missing or cannot be read after the change; CronError, UsageError
 */
export function computeRecalculatedDue(
  id: string,
  definition: Definition,
  due: DueState,
  now: WallTime,
  calendars: { before: Calendars; after: Calendars },
): DueState {
  if (due.next !== undefined && due.runAt <= now) return due;
  const timing = createTiming(id, definition, calendars.after);
  const isUnknown = findCalendarFault(definition, calendars.before) !== undefined;
  const old = isUnknown ? undefined : createTiming(id, definition, calendars.before);
  const next = findNext(timing, old, due.next, now, (definition.ifExcluded ?? "skip") !== "skip");
  return next === due.next ? due : moveNextOccurrence(due, next, timing.lag);
}

/**
 * @param old  the timing before the change; undefined if a calendar could not be read
 * @param isMoved  whether occurrences on excluded days move
 */
function findNext(
  timing: Timing,
  old: Timing | undefined,
  next: WallTime | undefined,
  now: WallTime,
  isMoved: boolean,
): number | undefined {
  if (timing.wait !== undefined) return next && timing.findFrom(next);
  if (next === undefined) return timing.findFrom(now);
  if (old?.findFrom(next) !== next) return timing.isExcluded(next) ? timing.findFrom(next) : next;
  const before = old.findUntil(next - 1) ?? -Infinity;
  if (before < now) return timing.findFrom(Math.min(now, next));
  return isMoved ? findNearestTime(timing, next, before) : timing.findFrom(before + 1);
}

/** Returns the occurrence that is nearest to another one: to that which it was before it moved. */
function findNearestTime(timing: Timing, next: WallTime, before: WallTime): number | undefined {
  const [from, until] = [timing.findFrom(next), timing.findUntil(next)];
  const isNearer = until !== undefined && (from === undefined || next - until < from - next);
  return isNearer && until > before ? until : from;
}
