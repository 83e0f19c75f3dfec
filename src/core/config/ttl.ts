import type { Millis } from "../base/clock.ts";

/** Number of session renewals in one time to live. */
const RENEWALS_PER_TTL = 6;

/**
 * Computes the safety margin of the horizon for a time to live, because clocks run at slightly different
 * speeds.
 */
export function computeSafetyMargin(ttl: Millis): Millis {
  return Math.max(1_000, ttl * 0.02);
}

/** Computes the time between two renewals. */
export function computeRenewalPeriod(ttl: Millis): Millis {
  return ttl / RENEWALS_PER_TTL;
}

/**
 * Computes the time available for ending the command. The horizon counts from a renewal, and TERM is sent one
 * termination timeout before the horizon. If TERM were due no later than the next renewal, every command would be ended
 * although nothing is wrong.
 */
function computeTerminationLimit(ttl: Millis): Millis {
  return ttl - computeSafetyMargin(ttl) - computeRenewalPeriod(ttl);
}

/** Returns whether a termination timeout fits into a time to live. */
export function canTerminateWithin(terminationTimeout: Millis, ttl: Millis): boolean {
  return terminationTimeout < computeTerminationLimit(ttl);
}

/**
 * Computes the largest termination timeout that fits: whole seconds, or tenths of a second if the limit is at most one
 * second.
 */
export function computeLargestTermination(ttl: Millis): Millis {
  const room = computeTerminationLimit(ttl);
  const step = room > 1_000 ? 1_000 : 100;
  return (Math.ceil(room / step) - 1) * step;
}

/** Computes the smallest time to live, in whole seconds, that a termination timeout fits into. */
export function computeSmallestTtl(terminationTimeout: Millis): Millis {
  // The margin is the larger of 1 s and 2 % of the ttl, so the result is the larger of the two solutions.
  const share = 1 - 1 / RENEWALS_PER_TTL;
  const least = Math.max((terminationTimeout + 1_000) / share, terminationTimeout / (share - 0.02));
  let ttl = Math.max(2_000, Math.floor(least / 1_000) * 1_000);
  while (!canTerminateWithin(terminationTimeout, ttl)) ttl += 1_000;
  return ttl;
}
