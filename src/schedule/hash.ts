import { hash } from "../core/base/hash.ts";

/** Returns a part of `most` that is constant per key. Spreads schedules that are due at the same time. Both in ms. */
export function computeJitter(key: string, most: number): number {
  return Math.floor((hash(key) / 2 ** 32) * most);
}

/**
 * Returns the workers that come before a worker for a schedule, by rendezvous hashing. All workers compute the same
 * order without communication, and a worker that leaves only moves its own schedules.
 * @param workers ids of the workers that can run the schedule; `worker` may be among them
 */
export function listWorkersBefore(worker: string, workers: readonly string[], schedule: string): string[] {
  const own = hash(`${worker} ${schedule}`);
  return workers.filter((other) => {
    if (other === worker) return false;
    const score = hash(`${other} ${schedule}`);
    return score > own || (score === own && other < worker);
  });
}
