import type { WallTime } from "../../core/base/clock.ts";
import type { Timing } from "../timing.ts";
import type { Backfill, DueState, OpenOccurrence } from "./due.ts";

// Backfill: runs of past occurrences, in order, beside the plan. All instants in ms since the epoch.

/** Maximum number of occurrences of one backfill. */
export const MAX_BACKFILL = 10_000;
/** Maximum number of occurrences of a backfill that run or wait for a retry at the same time. */
export const MAX_BACKFILL_PARALLEL = 50;

/**
 * Creates the backfill of the occurrences from one instant to another.
 * @returns undefined if there is no occurrence
 */
export function createBackfill(
  timing: Timing,
  { from, to, parallel }: { from: WallTime; to: WallTime; parallel: number },
  now: WallTime,
): Backfill | undefined {
  const next = timing.findFrom(from);
  const until = timing.findUntil(to);
  if (next === undefined || until === undefined || next > until) return undefined;
  const total = timing.count(next - 1, until, MAX_BACKFILL + 1);
  return { next, until, since: now, parallel, started: 0, total };
}

/** Returns whether the next occurrence of a backfill may start now. */
export function canStartBackfilled({ backfill, open }: DueState): boolean {
  return backfill !== undefined && listBackfilled(open).length < backfill.parallel;
}

/** Lists the occurrences of a backfill that run or wait for a retry. */
export function listBackfilled(open: readonly OpenOccurrence[]): readonly OpenOccurrence[] {
  return open.filter(({ kind }) => kind === "backfill");
}

/**
 * Starts the next occurrence of a backfill.
 * @returns the occurrence is undefined if the same one is open or next already; then it only counts
 */
export function startBackfilled(
  { backfill, ...due }: DueState & { backfill: Backfill },
  timing: Timing,
  now: WallTime,
): { due: DueState; occurrence?: OpenOccurrence } {
  const { next: scheduled, until, since, started } = backfill;
  const following = timing.findAfter(scheduled);
  const rest: DueState =
    following === undefined || following > until
      ? due
      : { ...due, backfill: { ...backfill, next: following, started: started + 1 } };
  if (due.next === scheduled || due.open.some((one) => one.scheduled === scheduled)) return { due: rest };
  const occurrence: OpenOccurrence = {
    scheduled,
    runAt: now,
    attempt: 1,
    failures: 0,
    kind: "backfill",
    backfill: since,
  };
  return { due: { ...rest, open: [...due.open, occurrence] }, occurrence };
}
