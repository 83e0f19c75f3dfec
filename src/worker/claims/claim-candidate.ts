import type { WallTime } from "../../core/base/clock.ts";
import type { Random } from "../../core/base/random.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { getDeadline } from "../../schedule/definition.ts";
import { type Candidate, canOverlap, findNextCandidate } from "../../schedule/state/next-candidate.ts";
import { type CachedSchedule, getStartableDue } from "../cache/cached-schedule.ts";
import type { ScheduleCache } from "../cache/schedule-cache.ts";

/**
 * Returns the occurrence of a schedule that this worker may claim next, according to the cache. The result matches the
 * guards of the claim transaction.
 */
export function findClaimCandidate(
  { cache, ports: { keys } }: { cache: ScheduleCache; ports: { keys: Keys } },
  entry: CachedSchedule,
  now: WallTime,
): Candidate | undefined {
  const { id, definition } = entry;
  const due = getStartableDue(entry);
  if (definition === undefined || due === undefined) return undefined;
  const [end] = due.handed ?? [];
  // Without a time: the clock of the worker that wrote it may have been ahead, and nothing else of the schedule starts before.
  if (end !== undefined) return { runAt: 0, end };
  // With `overlap: allow`, a run that was claimed before it was set still blocks the others; so does, on every host, one that
  // was claimed before.
  const running = cache.listRunning(entry);
  if (running.size > 0 && (!canOverlap(definition) || entry.running.has(keys.running(id)))) return undefined;
  return findNextCandidate(definition, due, running, now);
}

/** Claim delay per rank up to rank 2, ms. A random part is added. */
export const CLAIM_STAGGER = 1_000;

/**
 * Longest time, ms, for which a worker waits for the workers before it because they claim other occurrences. They may be
 * unable to claim this one.
 */
export const LONGEST_DEFERENCE = 10_000;

/** How many workers come before this one for a schedule, and what they do. */
export interface ClaimOrder {
  /** 0 for the first worker. */
  rank: number;
  /** When one of the workers before it has last claimed any occurrence. */
  lastClaimBefore: WallTime;
}

/** Returns since when the first worker could have claimed an occurrence. @param runAt  when it is due */
export function getOpenSince({ freeSince }: CachedSchedule, runAt: WallTime): WallTime {
  return Math.max(runAt, freeSince);
}

/**
 * Returns when workers of a rank may claim an occurrence at the earliest; that of rank 0 claims on time. The others wait, and claim
 * only if it is still open. While the workers before them make progress, they wait on: under load, help would be lost races, and
 * each costs etcd a write.
 */
export function computeTurn(openSince: WallTime, { rank, lastClaimBefore }: ClaimOrder): WallTime {
  const idleSince = Math.min(Math.max(openSince, lastClaimBefore), openSince + LONGEST_DEFERENCE);
  return idleSince + Math.min(2, rank) * CLAIM_STAGGER;
}

/**
 * Returns when this worker may claim a due occurrence: in its turn, and each worker of the same rank at a time of its own.
 * @param runAt  when the occurrence is due
 */
export function computeClaimTime(
  entry: CachedSchedule,
  runAt: WallTime,
  order: ClaimOrder,
  random: Random,
): WallTime {
  if (order.rank === 0) return runAt;
  entry.delayFactor ??= random.generateFraction();
  return computeTurn(getOpenSince(entry, runAt), order) + entry.delayFactor * (CLAIM_STAGGER / 2);
}

interface PlacedOccurrence extends Pick<ClaimOrder, "rank"> {
  /** When the occurrence is due. */
  runAt: WallTime;
  /** See `createLoadMeter`. */
  load: number;
}

/** Longest delay of a claim because of the load of the host, ms. */
const LONGEST_PLACEMENT = 2_000;

/** Levels of load that workers tell apart. Workers of one level claim one after the other, by their ranks. */
const LOAD_LEVELS = 10;

/**
 * Returns when a worker may claim an occurrence that is to run on the host with the least load. Each worker delays
 * its own claim by its own load, so they need not know the loads of each other: the first worker of an idle host claims on time, and
 * a busy one claims what no less loaded one has claimed. Workers before this one that claim other occurrences do not matter: they
 * may be busy with them.
 */
export function computePlacedClaimTime(
  entry: CachedSchedule,
  { rank, runAt, load }: PlacedOccurrence,
  random: Random,
): WallTime {
  entry.delayFactor ??= random.generateFraction();
  const level = Math.floor((LOAD_LEVELS * load) / (1 + load));
  const share = rank === 0 ? 0 : (Math.min(2, rank) + entry.delayFactor) / 3;
  const delay = ((level + share) / LOAD_LEVELS) * computeLongestPlacement(entry);
  return getOpenSince(entry, runAt) + delay;
}

/** Returns the longest delay for the load, ms. A schedule that is due often does not fall behind, and one with a deadline keeps it. */
function computeLongestPlacement({ definition, due }: CachedSchedule): number {
  const deadline = (definition && getDeadline(definition)) ?? Infinity;
  const { next, last } = due ?? {};
  const period =
    next !== undefined && last !== undefined && next > last.scheduled ? next - last.scheduled : undefined;
  return Math.min(LONGEST_PLACEMENT, deadline / 2, (period ?? Infinity) / 4);
}
