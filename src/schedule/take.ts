import { DEFAULTS, type Definition } from "./definition.ts";
import type { Due, Open } from "./due.ts";
import { buried } from "./finish.ts";
import type { Outcome } from "./outcome.ts";
import { at } from "./plan.ts";
import { type Candidate, overlapOf } from "./prospect.ts";
import type { Timing } from "./timing.ts";

/** Starts that may be lost with their workers before an occurrence is taken for what kills them. */
const MOST_LOST = 10;
/** Skipped occurrences are counted up to this. */
export const MOST_COUNTED = 10_000;

/** What taking a candidate means: where the schedule is then, and what is to be remembered. */
export interface Taking {
  due: Due;
  /** What is started; undefined: nothing, it was too late for what was due. */
  taken?: Open;
  /** Remembered along with it: what was skipped, replaced or given up. */
  outcomes: readonly Outcome[];
  /** One that was given up. */
  dead?: Outcome;
}

/** @param now wall clock, ms since the epoch, at or after the candidate's `runAt` */
export function take(
  definition: Definition,
  timing: Timing,
  due: Due,
  candidate: Candidate,
  now: number,
): Taking {
  return candidate.open === undefined
    ? takeNext(definition, timing, due, now)
    : takeAgain(due, candidate.open, now);
}

/** One that was started before, or triggered. */
function takeAgain(due: Due, open: Open, now: number): Taking {
  const others = due.open.filter((one) => one !== open);
  if (open.attempt - open.failures >= MOST_LOST) {
    const reason = `its workers vanished ${open.attempt - open.failures} times`;
    const dead: Outcome = {
      scheduled: open.scheduled,
      result: "lost",
      endedAt: now,
      attempt: open.attempt,
      reason,
    };
    return { due: buried({ ...due, open: others }), outcomes: [dead], dead };
  }
  const taken = { ...open, attempt: open.attempt + 1 };
  return { due: { ...due, open: [...others, taken] }, taken, outcomes: [] };
}

function takeNext(definition: Definition, timing: Timing, due: Due, now: number): Taking {
  const first = due.next as number;
  const scheduled = chosen(definition, timing, { first, runAt: due.runAt }, now);
  const outcomes = scheduled === first ? [] : [skipped(timing, first, scheduled, now)];
  const runAt = scheduled === first ? due.runAt : (scheduled ?? 0) + timing.lag;
  if (scheduled === undefined || runAt > now) return { due: at(due, scheduled, timing.lag), outcomes };
  const taken: Open = { scheduled, runAt, attempt: 1, failures: 0, kind: "due" };
  const { kept, dropped } = superseded(definition, due, now);
  return {
    due: at({ ...due, open: [...kept, taken] }, timing.after(scheduled), timing.lag),
    taken,
    outcomes: [...outcomes, ...dropped],
  };
}

/** The occurrence that the catch-up rule takes, which may lie ahead; undefined: none any more. */
function chosen(
  definition: Definition,
  timing: Timing,
  { first, runAt }: { first: number; runAt: number },
  now: number,
): number | undefined {
  const { catchup = DEFAULTS.catchup, pause } = definition;
  const deadline = definition.deadline ?? (catchup === "none" ? DEFAULTS.missedAfter : undefined);
  const isFirst = (instant: number) => instant === first;
  const due = (instant: number) => (isFirst(instant) ? runAt : instant + timing.lag);
  let instant: number | undefined = first;
  const paused =
    pause?.until !== undefined && pause.until <= now && runAt >= pause.at ? pause.until : undefined;
  if (paused !== undefined && due(instant) < paused) instant = timing.from(paused - timing.lag);
  if (instant === undefined) return undefined;
  if (catchup !== "all") instant = Math.max(instant, timing.until(now - timing.lag) ?? instant);
  if (deadline !== undefined && now - due(instant) > deadline)
    instant = timing.from(Math.max(instant + 1, now - timing.lag - deadline));
  return instant;
}

/** @param scheduled  the first that is not skipped; undefined: there is none */
function skipped(timing: Timing, first: number, scheduled: number | undefined, now: number): Outcome {
  const until = timing.until(scheduled === undefined ? now : scheduled - 1) ?? first; // an end counts
  const count = timing.count(first - 1, until, MOST_COUNTED);
  return { scheduled: first, result: "skipped", endedAt: now, count, until };
}

/** With `replace`, the next occurrence takes the place of those that wait to be tried again. */
function superseded(definition: Definition, due: Due, now: number): { kept: Open[]; dropped: Outcome[] } {
  const goes = ({ kind }: Open) => overlapOf(definition) === "replace" && kind === "due";
  const dropped = due.open.filter(goes).map(
    ({ scheduled, attempt }): Outcome => ({
      ...{ scheduled, result: "replaced", endedAt: now, attempt },
      reason: "the next one was due before it was tried again",
    }),
  );
  return { kept: due.open.filter((open) => !goes(open)), dropped };
}
