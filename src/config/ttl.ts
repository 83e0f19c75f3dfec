/** Renewals of a session in its time to live. */
export const RENEWALS = 6;

/** Safety margin of the horizon in ms, for a time to live in ms: clocks run at slightly different speeds. */
export function marginOf(ttl: number): number {
  return Math.max(1_000, ttl * 0.02);
}

/** Time between two renewals, ms. */
export function renewalPeriod(ttl: number): number {
  return ttl / RENEWALS;
}

/**
 * Time that there is for ending the command, ms: the horizon counts from a renewal, and TERM comes a termination timeout
 * before it. Were that no later than the next renewal, every command would be ended though nothing is wrong.
 */
function roomFor(ttl: number): number {
  return ttl - marginOf(ttl) - renewalPeriod(ttl);
}

/** Whether a command gets its termination timeout out of a time to live; both in ms. */
export function fits(terminationTimeout: number, ttl: number): boolean {
  return terminationTimeout < roomFor(ttl);
}

/** The largest termination timeout that fits, in whole seconds, below one in tenths; all in ms. */
export function largestTermination(ttl: number): number {
  const room = roomFor(ttl);
  const step = room > 1_000 ? 1_000 : 100;
  return (Math.ceil(room / step) - 1) * step;
}

/** The smallest time to live, in whole seconds, into which a termination timeout fits; both in ms. */
export function smallestTtl(terminationTimeout: number): number {
  // The margin is the larger of 1 s and 2 %; so is what it asks for.
  const share = 1 - 1 / RENEWALS;
  const least = Math.max((terminationTimeout + 1_000) / share, terminationTimeout / (share - 0.02));
  let ttl = Math.max(2_000, Math.floor(least / 1_000) * 1_000);
  while (!fits(terminationTimeout, ttl)) ttl += 1_000;
  return ttl;
}
