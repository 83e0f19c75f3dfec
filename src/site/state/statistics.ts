import type { WallTime } from "../../core/base/clock.ts";
import type { PastRun } from "../../core/protocol/history.ts";

/**
 * Computes a percentile: the smallest value that at least a share of the values does not exceed. Uses the nearest rank
 * without interpolation, so the result is always one of the values.
 * @param sorted  in ascending order
 * @param share   in (0, 1]
 * @returns undefined if there are no values
 */
export function computePercentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** Two percentiles of some durations, ms. */
export interface DurationSpread {
  p50: number;
  p95: number;
}

/** Returns how durations spread; undefined if there are none. */
export function computeSpread(durations: readonly number[]): DurationSpread | undefined {
  const sorted = [...durations].map((ms) => Math.max(0, ms)).sort((a, b) => a - b);
  const [p50, p95] = [computePercentile(sorted, 0.5), computePercentile(sorted, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}

/** Returns how long runs of a lock usually hold it, ms; undefined without a history. */
export function computeTypicalHeld(runs: readonly PastRun[]): DurationSpread | undefined {
  return computeSpread(runs.map(({ held }) => held));
}

/** Returns how long runs of a lock usually wait for it, ms; undefined without a history. */
export function computeTypicalWaited(runs: readonly PastRun[]): DurationSpread | undefined {
  return computeSpread(runs.map(({ waited }) => waited));
}

/** Statistics of the history of one lock. Durations in ms, wall clocks in ms since the epoch. */
export interface LockStatistics {
  lock: string;
  runs: number;
  /** Number of runs with an exit code other than 0. */
  failures: number;
  /** Share of the time since the first grant in the history that the lock was held, from 0 to 1. */
  busy: number | undefined;
  held: DurationSpread | undefined;
  waited: DurationSpread | undefined;
  /** The newest run. */
  last: PastRun | undefined;
}

/**
 * Computes the statistics of one lock.
 * @param runs  newest first, as in the history
 * @param wall  the span of `busy` ends there
 */
export function computeLockStatistics(
  lock: string,
  runs: readonly PastRun[],
  wall: WallTime,
): LockStatistics {
  return {
    lock,
    runs: runs.length,
    failures: runs.filter(({ exit }) => exit !== 0).length,
    busy: computeBusyShare(runs, wall),
    held: computeTypicalHeld(runs),
    waited: computeTypicalWaited(runs),
    last: runs[0],
  };
}

/** Computes the busy share, limited to 0 … 1, because the clocks of hosts differ. */
function computeBusyShare(runs: readonly PastRun[], wall: WallTime): number | undefined {
  const first = runs.reduce((least, { grantedAt }) => Math.min(least, grantedAt), Infinity);
  const span = wall - first;
  if (!(span > 0)) return undefined;
  const held = runs.reduce((sum, run) => sum + Math.max(0, run.held), 0);
  return Math.min(1, held / span);
}
