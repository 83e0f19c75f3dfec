import { DEFAULTS, type Definition, isPaused } from "./definition.ts";
import type { Due, Open } from "./due.ts";

/** An occurrence that may be taken. Instants in ms since the epoch. */
export interface Candidate {
  runAt: number;
  /** Taken up or triggered before; undefined: the next one of the plan. */
  open?: Open;
}

/**
 * Which occurrence of a schedule may be taken next, should nothing change.
 * @param running  nominal times of what runs now
 * @param now      wall clock, ms since the epoch
 * @returns the one that may be taken earliest; undefined where only a change brings one: the end of what runs, for one
 */
export function prospect(
  definition: Definition,
  due: Due,
  running: ReadonlySet<number>,
  now: number,
): Candidate | undefined {
  if (running.size > 0 && !mayOverlap(definition)) return undefined;
  const until = isPaused(definition, now) ? (definition.pause?.until ?? Number.POSITIVE_INFINITY) : undefined;
  let best: Candidate | undefined;
  const offer = (candidate: Candidate, isStopped: boolean) => {
    const runAt = isStopped ? Math.max(candidate.runAt, until ?? 0) : candidate.runAt;
    if (runAt < (best?.runAt ?? Number.POSITIVE_INFINITY)) best = { ...candidate, runAt };
  };
  for (const open of due.open) {
    const isStopped = until !== undefined && open.kind !== "trigger";
    if (!running.has(open.scheduled)) offer({ runAt: open.runAt, open }, isStopped);
  }
  if (isHeadFree(definition, due)) offer({ runAt: due.runAt }, until !== undefined);
  return best;
}

/** How what runs keeps what follows from running. */
export function overlapOf({ overlap }: Definition): NonNullable<Definition["overlap"]> {
  return overlap ?? DEFAULTS.overlap;
}

/** Whether occurrences run side by side. */
export function mayOverlap(definition: Definition | undefined): boolean {
  return definition !== undefined && overlapOf(definition) === "allow";
}

/** Where occurrences wait for one another, one that is tried again comes before the next. */
function isHeadFree(definition: Definition, due: Due): boolean {
  if (due.next === undefined) return false;
  return overlapOf(definition) !== "forbid" || !due.open.some(({ kind }) => kind === "due");
}

/** When a running occurrence is to be ended because the next one takes its place; undefined: never, as it stands. */
export function replacedAt(
  definition: Definition,
  due: Due,
  scheduled: number,
  now: number,
): number | undefined {
  if (overlapOf(definition) !== "replace" || due.next === undefined || isPaused(definition, now))
    return undefined;
  const own = due.open.find((open) => open.scheduled === scheduled);
  return own?.kind === "trigger" || due.next <= scheduled ? undefined : due.runAt;
}
