import type { Random } from "../../../base/random.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";

/** Claim delay per rank up to rank 2, ms. A random part is added. */
export const CLAIM_STAGGER = 1_000;

/**
 * Longest time, ms, for which a worker waits for the workers before it because they claim other occurrences. They may be
 * unable to claim this one.
 */
const LONGEST_DEFERENCE = 10_000;

interface ClaimOrder {
  /** 0 for the first worker. */
  rank: number;
  /** When the occurrence is due, wall clock, ms. */
  runAt: number;
  /** When a worker of a lower rank has last claimed any occurrence, wall clock, ms. */
  lastClaimBefore: number;
}

/**
 * Returns when a worker may claim a due occurrence, wall clock, ms. The worker of rank 0 claims on time; the others
 * wait, and claim only if the occurrence is still open. While the workers before them make progress, they wait on: under
 * load, help would be lost races, and each costs etcd a write.
 */
export function computeClaimTime(
  entry: CachedSchedule,
  { rank, runAt, lastClaimBefore }: ClaimOrder,
  random: Random,
): number {
  if (rank === 0) return runAt;
  entry.delayFactor ??= random.generateFraction();
  const open = Math.max(runAt, entry.freeSince);
  const idle = Math.min(Math.max(open, lastClaimBefore), open + LONGEST_DEFERENCE);
  return idle + Math.min(2, rank) * CLAIM_STAGGER + entry.delayFactor * (CLAIM_STAGGER / 2);
}
