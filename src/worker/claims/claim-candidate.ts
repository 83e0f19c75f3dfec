import type { Random } from "../../base/random.ts";
import type { Keys } from "../../protocol/keys.ts";
import { type Candidate, canOverlap, findNextCandidate } from "../../schedule/state/next-candidate.ts";
import { type CachedSchedule, getStartableDue } from "../cache/cached-schedule.ts";

const NONE: ReadonlySet<number> = new Set();

/**
 * Returns the occurrence of a schedule that this worker may claim next, according to the cache. The result matches the
 * guards of the claim transaction.
 * @param now wall clock, ms since the epoch
 */
export function findClaimCandidate(keys: Keys, entry: CachedSchedule, now: number): Candidate | undefined {
  const { id, definition, running } = entry;
  const due = getStartableDue(entry);
  if (definition === undefined || due === undefined) return undefined;
  const [end] = due.handed ?? [];
  // Without a time: the clock of the worker that wrote it may have been ahead, and nothing else of the schedule starts before.
  if (end !== undefined) return { runAt: 0, end };
  // With `overlap: allow`, a run that was claimed before it was set still blocks the others; so does, on every host, one that
  // was claimed before.
  if (running.size > 0 && (!canOverlap(definition) || running.has(keys.running(id)))) return undefined;
  return findNextCandidate(definition, due, listRunning(keys, running), now);
}

/** Returns the scheduled times of the running occurrences. */
function listRunning(keys: Keys, running: CachedSchedule["running"]): ReadonlySet<number> {
  if (running.size === 0) return NONE;
  return new Set(
    [...running].map(([key, one]) => parseScheduledTime(keys, key) ?? one.running?.scheduled ?? -1),
  );
}

/** Reads the scheduled time from the key. With overlapping occurrences this works even if the value cannot be read. */
function parseScheduledTime(keys: Keys, key: string): number | undefined {
  const parsed = keys.parse(key);
  return parsed.kind === "running" ? parsed.scheduled : undefined;
}

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
