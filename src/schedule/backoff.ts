import type { Millis } from "../core/base/clock.ts";

/** Longest pause between starts of what fails repeatedly, ms. */
const LONGEST_BACKOFF = 3_600_000;

/**
 * Computes the pause before a retry. It is doubled for each failure before this one.
 * @param failures  how many attempts have failed before the last one
 * @param unit      a random number from 0 to 1: the pause varies by a quarter, so that not all retries come at the same time
 */
export function computeBackoff(backoff: Millis, failures: number, unit: number): Millis {
  const pause = Math.min(LONGEST_BACKOFF, backoff * 2 ** Math.min(failures, 30));
  return Math.round(pause * (0.75 + unit / 2));
}
