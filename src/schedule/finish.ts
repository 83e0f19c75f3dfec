import { DEFAULTS, type Definition } from "./definition.ts";
import type { Due, Last, Open } from "./due.ts";
import { OUTCOMES_LENGTH, type Outcome, type Result } from "./outcome.ts";

/** Before a handler that asked for another start gets it, unless it says, ms. PerfectSched's `retry_wait`. */
export const RETRY_WAIT = 300_000;
/** The longest that a handler may wish for, ms: a hundred years. */
const LONGEST_WAIT = 36_525 * 86_400_000;
/** The longest pause between starts of an occurrence that fails again and again, ms. */
const LONGEST_BACKOFF = 3_600_000;

/** What a finished start means: where the schedule is then, and whether the occurrence was given up. */
export interface Finish {
  due: Due;
  /** ms since the epoch of its next start; undefined: it has ended. */
  again?: number;
  isDead: boolean;
}

export interface Ended {
  outcome: Outcome & { result: Exclude<Result, "skipped"> };
  /** ms, of `retry`. */
  wait?: number | undefined;
}

/**
 * What becomes of a schedule when an occurrence that was started has ended.
 * @param due   where it is, the occurrence among its open ones; where it is not, nothing but `last` changes
 * @param unit  a random number from 0 up to 1, for the pauses between failures
 */
export function finish(definition: Definition, due: Due, { outcome, wait }: Ended, unit: number): Finish {
  const open = due.open.find(({ scheduled }) => scheduled === outcome.scheduled);
  const others = due.open.filter((one) => one !== open);
  const last = lastOf(outcome);
  const over = { due: { ...due, open: others, ...last }, isDead: false };
  if (open === undefined) return over;
  const next = nextStart(definition, open, outcome, { wait, unit });
  if (next === "never") return { due: buried(over.due), isDead: true };
  if (next === undefined) return over;
  return { due: { ...due, open: [...others, next], ...last }, again: next.runAt, isDead: false };
}

/** A schedule with one dead letter more. */
export function buried(due: Due): Due {
  return { ...due, dead: Math.min(OUTCOMES_LENGTH, (due.dead ?? 0) + 1) };
}

function nextStart(
  { retries = DEFAULTS.retries, backoff = DEFAULTS.backoff }: Definition,
  open: Open,
  { result, endedAt }: Ended["outcome"],
  { wait = RETRY_WAIT, unit }: { wait?: number | undefined; unit: number },
): Open | "never" | undefined {
  if (result === "ok" || result === "replaced") return undefined;
  if (result === "lost") return { ...open, runAt: endedAt };
  // Neither of these counts: not as a failure, and not among the starts that were lost.
  if (result === "released") return { ...open, attempt: before(open), runAt: endedAt };
  if (result === "retry") return { ...open, attempt: before(open), runAt: endedAt + bounded(wait) };
  if (open.failures >= retries) return "never";
  const pause = Math.min(LONGEST_BACKOFF, backoff * 2 ** Math.min(open.failures, 30));
  return { ...open, failures: open.failures + 1, runAt: endedAt + Math.round(pause * (0.75 + unit / 2)) };
}

/** What handlers say becomes part of the state, which must stay an instant. */
function bounded(wait: number): number {
  return Number.isNaN(wait) ? RETRY_WAIT : Math.round(Math.min(Math.max(0, wait), LONGEST_WAIT));
}

/** Starts before the one that does not count; a state that was put by hand may know of none. */
const before = ({ attempt }: Open) => Math.max(0, attempt - 1);

function lastOf({ scheduled, startedAt, endedAt, late, result, run }: Outcome): { last?: Last } {
  if (startedAt === undefined || run === undefined) return {};
  return { last: { scheduled, startedAt, endedAt, late: late ?? 0, result, run } };
}
