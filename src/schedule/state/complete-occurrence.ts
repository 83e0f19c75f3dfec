import type { Millis, WallTime } from "../../core/base/clock.ts";
import { pluralize } from "../../core/base/text.ts";
import { computeBackoff } from "../backoff.ts";
import { type Definition, isOnce } from "../definition.ts";
import { SCHEDULE_DEFAULTS } from "../definition-values.ts";
import { MANUAL_PLAN } from "../plan.ts";
import { NEVER_DUE, type Timing } from "../timing.ts";
import type { Cancellation, DueState, LastOccurrence, OpenOccurrence } from "./due.ts";
import { planAfterEnd } from "./due-transitions.ts";
import { DEAD_LETTERS_LENGTH, type OccurrenceOutcome, type OccurrenceResult } from "./outcome.ts";

/** Default wait before the next start after `retry`, ms. PerfectSched's `retry_wait`. */
const RETRY_WAIT = 300_000;
/** Longest wait that a handler may request, ms: a hundred years. */
const LONGEST_WAIT = 36_525 * 86_400_000;
/** An occurrence that asks so often for another start later has failed: otherwise it would start for ever. */
const MOST_POSTPONED = 100;

/** Result of completing an occurrence: the new state of the schedule, and whether the occurrence was given up. */
export interface OccurrenceCompletion {
  due: DueState;
  /** Whether the occurrence was open, and does not start again. */
  isOver: boolean;
  /** Next start, ms since the epoch; undefined if the occurrence has ended. */
  again?: WallTime;
  isDead: boolean;
}

export interface EndedOccurrence {
  outcome: OccurrenceOutcome & { result: Exclude<OccurrenceResult, "skipped"> };
  /** For `retry` and `released`: wait before the next start. Default: 300 s, and none. */
  wait?: Millis | undefined;
}

/**
 * Returns the state of a schedule after the end of an occurrence.
 * @param due current state; if the occurrence is not among its open ones, only `last` changes
 * @param unit random number in [0, 1), for the pause after a failure
 * @param timing current one of the schedule
 */
export function completeOccurrence(
  definition: Definition,
  due: DueState,
  { outcome, wait }: EndedOccurrence,
  unit: number,
  timing: Timing = NEVER_DUE,
): OccurrenceCompletion {
  const found = due.open.find(({ scheduled }) => scheduled === outcome.scheduled);
  const open = found && forgetSession(found);
  const others = due.open.filter((one) => one !== found);
  const last = buildLastOccurrence(outcome);
  // A success ends the failures in a row. A pause stays: only an operator ends it.
  const { failed: _, ...succeeded } = due;
  const before = outcome.result === "ok" ? succeeded : due;
  const over = { due: { ...before, open: others, ...last }, isOver: true, isDead: false };
  if (open === undefined) return { ...over, isOver: false };
  const end = (state: DueState) => planAfterEnd(timing, state, outcome.endedAt);
  const next = planNextStart(definition, open, outcome, { wait, unit });
  if (next === "never")
    return { ...over, due: end(addDeadLetter(definition, over.due, outcome.endedAt)), isDead: true };
  if (next === undefined) return { ...over, due: end(over.due) };
  const again = Math.max(next.runAt, outcome.endedAt);
  return { due: { ...due, open: [...others, next], ...last }, isOver: false, again, isDead: false };
}

/** Returns why another start later counts as a failure; undefined if it is permitted. */
export function findPostponementFault({ postponed = 0 }: OpenOccurrence): string | undefined {
  return postponed < MOST_POSTPONED ? undefined : `it asked for another start later ${postponed + 1} times`;
}

/** Returns an occurrence whose last start has ended. */
export function forgetSession({ session: _, ...open }: OpenOccurrence): OpenOccurrence {
  return open;
}

/** Counts an occurrence that was given up, and pauses the schedule if it was one too many in a row. */
export function addDeadLetter(
  { pauseAfterFailures: most }: Definition,
  due: DueState,
  now: WallTime,
): DueState {
  const counted = { ...due, dead: Math.min(DEAD_LETTERS_LENGTH, (due.dead ?? 0) + 1) };
  if (most === undefined) return counted;
  const failed = (due.failed ?? 0) + 1;
  if (failed < most || due.pause !== undefined) return { ...counted, failed };
  const why = `after ${pluralize(failed, "failure")}`;
  return { ...counted, failed, pause: { by: "signalbox", at: now, why } };
}

/** Returns whether a schedule is removed after a completion: nothing of it is left to run. */
export function isRemovedAfter(
  { removeAfter, cron, after }: Definition,
  { due, isOver, isDead }: OccurrenceCompletion,
): boolean {
  if (removeAfter === undefined || !isOver || (isDead && removeAfter === "success")) return false;
  const isLeft = due.next !== undefined || due.open.length > 0 || due.backfill !== undefined;
  return !isLeft && due.successors === undefined && after === undefined && cron !== MANUAL_PLAN;
}

/** Returns the dead letter of an occurrence, which can run again with the same data and variables. */
export function buildDeadLetter(
  { data, env }: OpenOccurrence,
  outcome: OccurrenceOutcome,
): OccurrenceOutcome {
  return { ...outcome, ...(data !== undefined && { data }), ...(env !== undefined && { env }) };
}

function planNextStart(
  { retries = SCHEDULE_DEFAULTS.retries, backoff = SCHEDULE_DEFAULTS.backoff }: Definition,
  { refusedSince, ...open }: OpenOccurrence,
  { result, endedAt }: EndedOccurrence["outcome"],
  { wait, unit }: { wait?: Millis | undefined; unit: number },
): OpenOccurrence | "never" | undefined {
  if (result === "ok" || result === "replaced" || result === "canceled" || open.canceled) return undefined;
  // At once. Workers start first what was due first: with a later `runAt`, it would wait for the whole backlog.
  const runAt = Math.min(open.runAt, endedAt);
  if (result === "lost") return { ...open, runAt };
  // It may not have begun, for example without its leases. A state written by hand may have no start.
  if (result === "released") {
    const again = { ...open, attempt: Math.max(0, open.attempt - 1) };
    if (wait === undefined) return { ...again, runAt };
    return { ...again, runAt: endedAt + limitWait(wait), refusedSince: refusedSince ?? open.runAt };
  }
  const { postponed = 0, ...failed } = open;
  if (result === "retry") {
    const deferred = (open.deferred ?? 0) + 1;
    return { ...open, deferred, postponed: postponed + 1, runAt: endedAt + limitWait(wait ?? RETRY_WAIT) };
  }
  if (open.failures >= retries) return "never";
  const pause = computeBackoff(backoff, open.failures, unit);
  return { ...failed, failures: open.failures + 1, runAt: endedAt + pause };
}

/** Limits the wait of a handler. It becomes part of the state, which must remain a valid instant. */
function limitWait(wait: Millis): number {
  return Number.isNaN(wait) ? RETRY_WAIT : Math.round(Math.min(Math.max(0, wait), LONGEST_WAIT));
}

function buildLastOccurrence({ scheduled, startedAt, endedAt, late, result, run }: OccurrenceOutcome): {
  last?: LastOccurrence;
  succeededAt?: WallTime;
} {
  if (startedAt === undefined || run === undefined) return {};
  const last = { scheduled, startedAt, endedAt, late: late ?? 0, result, run };
  return { last, ...(result === "ok" && { succeededAt: endedAt }) };
}

/**
 * Cancels the occurrences of a schedule that run, or wait for a start: its worker ends what runs, the others are dropped. What is due
 * once does not run any more. The later occurrences of other schedules stay.
 * @returns the new state, and the outcomes of what was dropped; `due` itself if there is nothing to cancel
 */
export function cancelOccurrences(
  definition: Definition,
  due: DueState,
  canceled: Cancellation,
  timing: Timing,
): { due: DueState; dropped: readonly OccurrenceOutcome[] } {
  const waiting = due.open.filter(({ session }) => session === undefined).map(({ scheduled }) => scheduled);
  const times = due.next !== undefined && isOnce(definition) ? [...waiting, due.next] : waiting;
  const running = due.open.filter(({ session }) => session !== undefined);
  if (times.length === 0 && running.every((one) => one.canceled !== undefined)) return { due, dropped: [] };
  const open = running.map((one) => ({ canceled, ...one }));
  const { next, ...rest } = due;
  const isKept = next !== undefined && !isOnce(definition);
  const dropped = times.map((scheduled) => buildCanceledOutcome(scheduled, canceled));
  const state = { ...rest, ...(isKept && { next }), open };
  return { due: planAfterEnd(timing, state, dropped.length > 0 ? canceled.at : undefined), dropped };
}

function buildCanceledOutcome(scheduled: WallTime, canceled: Cancellation): OccurrenceOutcome {
  return { scheduled, result: "canceled", endedAt: canceled.at, reason: formatCancellation(canceled) };
}

/** Formats it for an outcome: `canceled by ann@web1: not needed`. */
export function formatCancellation({ by, why }: Cancellation): string {
  return `canceled by ${by}${why === undefined ? "" : `: ${why}`}`;
}

/** Returns who has canceled an occurrence; undefined if nobody has. */
export function findCancellation(due: DueState | undefined, scheduled: WallTime): Cancellation | undefined {
  return due?.open.find((one) => one.scheduled === scheduled)?.canceled;
}
