import type { WallTime } from "../../core/base/clock.ts";
import { type Definition, getCatchup, getDeadline, isOnce } from "../definition.ts";
import type { Timing } from "../timing.ts";
import { startBackfilled } from "./backfill.ts";
import { addDeadLetter, buildDeadLetter } from "./complete-occurrence.ts";
import type { DueState, OpenOccurrence } from "./due.ts";
import { findFreeTime, moveNextOccurrence, planAfterEnd } from "./due-transitions.ts";
import { type Candidate, getOverlap } from "./next-candidate.ts";
import type { OccurrenceOutcome } from "./outcome.ts";

/**
 * Maximum number of starts that are lost with their workers. The occurrence is then given up, because it probably kills
 * its workers.
 */
const MOST_LOST = 10;

/** Maximum count of skipped occurrences. */
export const MAX_COUNTED_OCCURRENCES = 10_000;

/** Result of starting a candidate: the new state of the schedule, and the outcomes to store. */
export interface OccurrenceStart {
  due: DueState;
  /** The occurrence to start; undefined if nothing starts: it was too late for what was due, or conditions do not hold. */
  occurrence?: OpenOccurrence;
  /** Outcomes to store: skipped, replaced or given up occurrences. */
  outcomes: readonly OccurrenceOutcome[];
  /** The occurrence that was given up. */
  dead?: OccurrenceOutcome;
}

/**
 * Starts a candidate, and applies the catch-up rule and the deadline to the next occurrence of the plan.
 * @param now at or after the `runAt` of the candidate
 * @param unmet  why conditions do not hold: of the next occurrence of the plan, only what is too late is skipped, for this reason
 */
export function startOccurrence(
  definition: Definition,
  timing: Timing,
  due: DueState,
  candidate: Candidate,
  now: WallTime,
  unmet?: string,
): OccurrenceStart {
  const { open, isBackfilled } = candidate;
  if (open !== undefined)
    return (
      applyCalendars(definition, timing, due, open, now) ??
      restartOccurrence(definition, timing, due, open, now)
    );
  const { backfill } = due;
  return isBackfilled && backfill !== undefined
    ? { ...startBackfilled({ ...forgetSkipped(due), backfill }, timing, now), outcomes: [] }
    : startNextOccurrence(definition, timing, due, now, unmet);
}

/** Whether a calendar that is missing or excludes its day keeps an occurrence from its start: it is the first one after other schedules. */
export function needsCalendars({ kind, attempt }: OpenOccurrence): boolean {
  return kind === "after" && attempt === 0;
}

/**
 * Moves or skips an occurrence after other schedules whose day the calendars exclude.
 * @returns undefined if they do not
 */
function applyCalendars(
  { ifExcluded = "skip" }: Definition,
  timing: Timing,
  due: DueState,
  open: OpenOccurrence,
  now: WallTime,
): OccurrenceStart | undefined {
  const { scheduled } = open;
  if (!needsCalendars(open) || !timing.isExcluded(scheduled)) return undefined;
  const others = due.open.filter((one) => one !== open);
  const at = timing.findAllowed(scheduled);
  if (at !== undefined && at > scheduled) {
    const moved = { ...open, scheduled: findFreeTime({ ...due, open: others }, at), runAt: at + timing.lag };
    return { due: { ...due, open: [...others, moved] }, outcomes: [] };
  }
  const blackout = timing.findBlackout(scheduled);
  const reason =
    blackout !== undefined
      ? `its scheduled time is in the blackout ${blackout.text}`
      : ifExcluded === "previous"
        ? "its calendars move it to a day in the past"
        : "its calendars exclude the day";
  const outcome: OccurrenceOutcome = {
    scheduled,
    result: "skipped",
    endedAt: now,
    count: 1,
    until: scheduled,
    reason,
  };
  return { due: { ...due, open: others }, outcomes: [outcome] };
}

/** Starts an occurrence that was started or triggered before. */
function restartOccurrence(
  definition: Definition,
  timing: Timing,
  due: DueState,
  open: OpenOccurrence,
  now: WallTime,
): OccurrenceStart {
  const others = due.open.filter((one) => one !== open);
  const lost = open.attempt - open.failures - (open.deferred ?? 0);
  if (lost >= MOST_LOST) {
    const reason = `its workers vanished ${lost} times`;
    const dead: OccurrenceOutcome = {
      scheduled: open.scheduled,
      result: "lost",
      endedAt: now,
      attempt: open.attempt,
      reason,
    };
    return {
      due: planAfterEnd(timing, addDeadLetter(definition, { ...due, open: others }, now), now),
      outcomes: [dead],
      dead: buildDeadLetter(open, dead),
    };
  }
  const taken = { ...open, attempt: open.attempt + 1 };
  return { due: { ...forgetSkipped(due), open: [...others, taken] }, occurrence: taken, outcomes: [] };
}

function startNextOccurrence(
  definition: Definition,
  timing: Timing,
  due: DueState,
  now: WallTime,
  unmet: string | undefined,
): OccurrenceStart {
  const first = due.next as number;
  // A calendar has changed since the occurrence was computed.
  if (timing.isExcluded(first))
    return { due: moveNextOccurrence(due, timing.findFrom(first + 1), timing.lag), outcomes: [] };
  const resumed = findResumed(definition, timing, { ...due, next: first }, now);
  const scheduled = chooseOccurrence(definition, timing, resumed, now);
  const outcomes = scheduled === first ? [] : [buildSkippedOutcome(timing, first, scheduled, now, unmet)];
  const runAt = scheduled === first ? due.runAt : (scheduled ?? 0) + timing.lag;
  if (scheduled === undefined || runAt > now || unmet !== undefined) {
    if (scheduled === first) return { due, outcomes };
    const noted = noteSkipped(timing, due, resumed, scheduled, { now, unmet });
    return { due: moveNextOccurrence(noted, scheduled, timing.lag), outcomes };
  }
  const taken: OpenOccurrence = { scheduled, runAt, attempt: 1, failures: 0, kind: "due" };
  const { kept, dropped } = splitSuperseded(definition, due, now);
  return {
    due: moveNextOccurrence(
      { ...forgetSkipped(due), open: [...kept, taken] },
      timing.findAfter(scheduled),
      timing.lag,
    ),
    occurrence: taken,
    outcomes: [...outcomes, ...dropped],
  };
}

/** The first occurrence that is not started yet, and when it is due. */
interface FirstOccurrence {
  next: WallTime | undefined;
  runAt: WallTime;
}

/** Returns the first occurrence that a pause that is over has not prevented. */
function findResumed(
  definition: Definition,
  timing: Timing,
  { next, runAt }: DueState & { next: WallTime },
  now: WallTime,
): FirstOccurrence {
  const { pause } = definition;
  const isOver = pause?.until !== undefined && pause.until <= now && runAt >= pause.at;
  if (!isOver || runAt >= (pause?.until ?? 0) || isOnce(definition)) return { next, runAt };
  const resumed = timing.findFrom((pause?.until ?? 0) - timing.lag);
  return { next: resumed, runAt: resumed === next ? runAt : (resumed ?? 0) + timing.lag };
}

/** Returns the occurrence selected by the catch-up rule; it may be in the future. Undefined if there are no more. */
function chooseOccurrence(
  definition: Definition,
  timing: Timing,
  { next: first, runAt }: FirstOccurrence,
  now: WallTime,
): number | undefined {
  const deadline = getDeadline(definition);
  const computeRunAt = (instant: WallTime) => (instant === first ? runAt : instant + timing.lag);
  if (first === undefined) return undefined;
  let instant: WallTime | undefined = first;
  if (getCatchup(definition) !== "all")
    instant = Math.max(instant, timing.findUntil(now - timing.lag) ?? instant);
  if (deadline !== undefined && now - computeRunAt(instant) > deadline)
    instant = timing.findFrom(Math.max(instant + 1, now - timing.lag - deadline));
  return instant;
}

/** Notes the occurrences that are skipped, and not because of a pause, since nothing starts in their place. */
function noteSkipped(
  timing: Timing,
  due: DueState,
  { next: first, runAt }: FirstOccurrence,
  scheduled: WallTime | undefined,
  { now, unmet }: { now: WallTime; unmet: string | undefined },
): DueState {
  if (first === undefined || scheduled === first) return due;
  const { count = 1 } = buildSkippedOutcome(timing, first, scheduled, now, unmet);
  const { since = runAt, count: before = 0 } = due.skipped ?? {};
  const skipped = { since, count: Math.min(MAX_COUNTED_OCCURRENCES, before + count) };
  return { ...due, skipped: { ...skipped, ...(unmet !== undefined && { reason: unmet }) } };
}

/** Returns the state of a schedule when an occurrence starts. */
function forgetSkipped({ skipped: _, ...due }: DueState): DueState {
  return due;
}

/** @param scheduled the first occurrence that is not skipped; undefined if there is none */
function buildSkippedOutcome(
  timing: Timing,
  first: WallTime,
  scheduled: WallTime | undefined,
  now: WallTime,
  reason: string | undefined,
): OccurrenceOutcome {
  const until = timing.findUntil(scheduled === undefined ? now : scheduled - 1) ?? first; // `end` applies
  // What depends on an event is no time of the plan.
  const count = Math.max(1, timing.count(first - 1, until, MAX_COUNTED_OCCURRENCES));
  return {
    scheduled: first,
    result: "skipped",
    endedAt: now,
    count,
    until,
    ...(reason !== undefined && { reason }),
  };
}

/** Splits the open occurrences. With `replace`, the next occurrence replaces those that wait for a retry. */
function splitSuperseded(
  definition: Definition,
  due: DueState,
  now: WallTime,
): { kept: OpenOccurrence[]; dropped: OccurrenceOutcome[] } {
  const isSuperseded = ({ kind }: OpenOccurrence) => getOverlap(definition) === "replace" && kind === "due";
  const dropped = due.open.filter(isSuperseded).map(
    ({ scheduled, attempt }): OccurrenceOutcome => ({
      scheduled,
      result: "replaced",
      endedAt: now,
      attempt,
      reason: "the next occurrence was due before it was retried",
    }),
  );
  return { kept: due.open.filter((open) => !isSuperseded(open)), dropped };
}
