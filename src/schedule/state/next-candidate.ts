import type { WallTime } from "../../core/base/clock.ts";
import { findBlackout, listBlackouts } from "../calendar/blackout.ts";
import { type Definition, getPause, isPaused } from "../definition.ts";
import { SCHEDULE_DEFAULTS } from "../definition-values.ts";
import { canStartBackfilled } from "./backfill.ts";
import type { DueState, HandedEnd, OpenOccurrence } from "./due.ts";

/** An occurrence that may be claimed. */
export interface Candidate {
  runAt: WallTime;
  /** Nothing starts: an end is given to further schedules that follow. */
  end?: HandedEnd;
  /** The open occurrence, if it was started or triggered before; undefined for the next one of the plan. */
  open?: OpenOccurrence;
  /** It is the next one of the backfill. */
  isBackfilled?: true;
}

/**
 * Returns the occurrence of a schedule that may be claimed next, if nothing changes.
 * @param running scheduled times of the running occurrences
 * @returns the occurrence that may be claimed first; undefined if a change must come first, for example the end of a
 *   run
 */
export function findNextCandidate(
  definition: Definition,
  due: DueState,
  running: ReadonlySet<number>,
  now: WallTime,
): Candidate | undefined {
  if (running.size > 0 && !canOverlap(definition)) return undefined;
  const until = isPaused(definition, due, now) ? (getPause(definition, due)?.until ?? Infinity) : undefined;
  let best: Candidate | undefined;
  const offer = (candidate: Candidate, isStopped: boolean) => {
    const free = isStopped ? Math.max(candidate.runAt, until ?? 0) : candidate.runAt;
    const isTriggered = candidate.open?.kind === "trigger";
    const runAt = isTriggered ? free : leaveBlackouts(definition, free, now);
    if (runAt < (best?.runAt ?? Infinity)) best = { ...candidate, runAt };
  };
  for (const open of due.open) {
    const isStopped = until !== undefined && open.kind !== "trigger";
    if (!running.has(open.scheduled)) offer({ runAt: open.runAt, open }, isStopped);
  }
  if (isHeadFree(definition, due)) offer({ runAt: due.runAt }, until !== undefined);
  if (best !== undefined && best.runAt <= now) return best; // a backfill comes after all that is due
  if (due.backfill !== undefined && canStartBackfilled(due))
    offer({ runAt: due.backfill.since, isBackfilled: true }, until !== undefined);
  return best;
}

/** Returns when what may start at `runAt` starts: what is late, is delayed or waits for a retry does not start in a blackout. */
function leaveBlackouts(definition: Definition, runAt: WallTime, now: WallTime): WallTime {
  const blackouts = listBlackouts(definition);
  let at = Math.max(runAt, now);
  let span = findBlackout(blackouts, definition.timezone, at);
  if (span === undefined) return runAt;
  // Several may follow each other; together they are never the whole day, see `checkFires`.
  for (let left = 0; span !== undefined && left <= 2 * blackouts.length; left += 1) {
    at = span.end;
    span = findBlackout(blackouts, definition.timezone, at);
  }
  return at;
}

/** Returns the overlap rule or its default. */
export function getOverlap({ overlap }: Definition): NonNullable<Definition["overlap"]> {
  return overlap ?? SCHEDULE_DEFAULTS.overlap;
}

/** Returns whether occurrences may run in parallel. */
export function canOverlap(definition: Definition | undefined): boolean {
  return definition !== undefined && getOverlap(definition) === "allow";
}

/** Returns whether the next occurrence may be claimed. With `forbid`, a retry comes before the next occurrence. */
export function isHeadFree(definition: Definition, due: DueState): boolean {
  if (due.next === undefined) return false;
  return getOverlap(definition) !== "forbid" || !due.open.some(({ kind }) => kind === "due");
}

/** Returns when the next occurrence replaces a running one; undefined if it does not in the current state. */
export function computeReplacementTime(
  definition: Definition,
  due: DueState,
  scheduled: WallTime,
  now: WallTime,
): number | undefined {
  if (getOverlap(definition) !== "replace" || due.next === undefined || isPaused(definition, due, now))
    return undefined;
  const own = due.open.find((open) => open.scheduled === scheduled);
  return (own !== undefined && own.kind !== "due") || due.next <= scheduled ? undefined : due.runAt;
}
