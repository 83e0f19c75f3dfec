import type { PastRun } from "../protocol/history.ts";

/**
 * The value below or at which a share of the values lies: the smallest value that at least `share` of them do not
 * exceed (nearest rank, no interpolation, so it is always one that occurred).
 * @param sorted  in ascending order
 * @param share   in (0, 1]
 * @returns undefined where there are no values
 */
export function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** Two percentiles of some durations, ms. */
export interface Spread {
  p50: number;
  p95: number;
}

function spread(durations: readonly number[]): Spread | undefined {
  const sorted = [...durations].map((ms) => Math.max(0, ms)).sort((a, b) => a - b);
  const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}

/** How long runs of a lock usually hold it, ms; undefined where nothing is remembered. */
export function typicalHeld(runs: readonly PastRun[]): Spread | undefined {
  return spread(runs.map(({ held }) => held));
}

/** How long runs of a lock usually waited for it, ms; undefined where nothing is remembered. */
export function typicalWaited(runs: readonly PastRun[]): Spread | undefined {
  return spread(runs.map(({ waited }) => waited));
}

/** What the history of one lock comes to. Durations in ms, wall clocks in ms since the epoch. */
export interface LockStatistics {
  lock: string;
  /** Runs remembered. */
  runs: number;
  /** Those that ended with another code than 0. */
  failures: number;
  /** Share of the time since the first remembered grant that the lock was held, from 0 to 1. */
  busy: number | undefined;
  held: Spread | undefined;
  waited: Spread | undefined;
  /** The newest. */
  last: PastRun | undefined;
}

/**
 * @param runs  newest first, as histories keep them
 * @param wall  wall clock, ms since the epoch: the span of `busy` ends there
 */
export function lockStatistics(lock: string, runs: readonly PastRun[], wall: number): LockStatistics {
  return {
    ...{ lock, runs: runs.length },
    failures: runs.filter(({ exit }) => exit !== 0).length,
    busy: busyShare(runs, wall),
    held: typicalHeld(runs),
    waited: spread(runs.map(({ waited }) => waited)),
    last: runs[0],
  };
}

/** Runs come from hosts with clocks of their own: what these make of it stays between 0 and 1. */
function busyShare(runs: readonly PastRun[], wall: number): number | undefined {
  const first = runs.reduce((least, { grantedAt }) => Math.min(least, grantedAt), Number.POSITIVE_INFINITY);
  const span = wall - first;
  if (!(span > 0)) return undefined;
  const held = runs.reduce((sum, run) => sum + Math.max(0, run.held), 0);
  return Math.min(1, held / span);
}
