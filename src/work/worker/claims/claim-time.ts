import type { Random } from "../../../base/random.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";

/** Claim delay per rank up to rank 2, ms. A random part is added. */
export const CLAIM_STAGGER = 1_000;

/**
 * Returns when a worker may claim a due occurrence, wall clock, ms. The worker of rank 0 claims on time; the others
 * wait, and claim only if the occurrence is still open.
 * @param rank 0 for the first worker
 * @param runAt when the occurrence is due, wall clock, ms
 */
export function computeClaimTime(entry: CachedSchedule, rank: number, runAt: number, random: Random): number {
  if (rank === 0) return runAt;
  entry.delayFactor ??= random.generateFraction();
  return (
    Math.max(runAt, entry.freeSince) +
    Math.min(2, rank) * CLAIM_STAGGER +
    entry.delayFactor * (CLAIM_STAGGER / 2)
  );
}
