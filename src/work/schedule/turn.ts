import type { Random } from "../../base/random.ts";
import type { Entry } from "./entry.ts";

/** What the second of those who can take a schedule leaves the first, and the third the second, ms, and a random part. */
export const STAGGER = 1_000;

/**
 * When a worker may take what is due: the first of those who can does so on time, the others only if it is left.
 * @param rank   0 for the first
 * @param runAt  when it is due, wall clock, ms
 */
export function turnOf(entry: Entry, rank: number, runAt: number, random: Random): number {
  if (rank === 0) return runAt;
  entry.turn ??= random.unit();
  return Math.max(runAt, entry.freeSince) + Math.min(2, rank) * STAGGER + entry.turn * (STAGGER / 2);
}
