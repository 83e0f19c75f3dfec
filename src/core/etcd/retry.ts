import { addMs, type Clock, type MonotonicTime, NEVER, subtractTime } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { forwardAbort, NO_LONGER_NEEDED, sleepUntilLate } from "../base/wait.ts";
import { StoreError } from "./store.ts";

/** First and longest pause between attempts, ms. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Minimum time for one attempt, even after the deadline, ms. */
const MIN_ATTEMPT_MS = 1_000;
/** The signal of calls that nothing ends early. */
const NEVER_ABORTED = new AbortController().signal;

/**
 * Repeats a call that got no response until it succeeds or the deadline passes. Use it only for calls that are safe to
 * repeat.
 * @param until  at least one attempt is made
 * @param call   one attempt; its signal is aborted with `unavailable` at the deadline
 * @throws the last `unavailable`; any other error at once; or the signal's reason
 */
export async function retryUnavailable<T>(
  ports: { clock: Clock; random: Random },
  until: MonotonicTime,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await runWithDeadline(ports.clock, until, call, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const wait = pause * (0.5 + ports.random.generateFraction() / 2);
      if (!isUnavailable(error) || addMs(ports.clock.now(), wait) >= until) throw error;
      await ports.clock.sleep(wait, signal);
    }
  }
}

/**
 * Makes a call once.
 * @param until  when the call is aborted with `unavailable`; it gets at least one second
 * @throws what the call throws, or the signal's reason
 */
export async function runWithDeadline<T>(
  clock: Clock,
  until: MonotonicTime,
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  if (until === NEVER) return await call(signal ?? NEVER_ABORTED);
  const stop = new AbortController(); // aborted at the end too, which ends the timer
  const stopForwarding = forwardAbort(signal, stop);
  const left = Math.max(MIN_ATTEMPT_MS, subtractTime(until, clock.now()));
  const abortLate = () =>
    stop.abort(new StoreError("unavailable", `no answer within ${Math.round(left)} ms`));
  void sleepUntilLate(clock, left, stop.signal).then(abortLate, () => {}); // rejected: the attempt has ended
  try {
    return await call(stop.signal);
  } finally {
    stopForwarding();
    stop.abort(NO_LONGER_NEEDED);
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "unavailable";
}

export function isCompacted(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "compacted";
}
