import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { StoreError } from "./store.ts";

/** First pause between attempts, and the longest, in ms. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/**
 * Repeats a call that got no answer, until one comes or its time is up. Only for calls that may be repeated.
 * @param until  instant on the clock, ms; there is at least one attempt
 * @throws the last `unavailable`, at once any other error, or the signal's reason
 */
export async function persist<T>(
  ports: { clock: Clock; random: Random },
  until: number,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      const wait = pause * (0.5 + ports.random.unit() / 2);
      if (!isUnavailable(error) || ports.clock.now() + wait >= until) throw error;
      await ports.clock.sleep(wait, signal);
    }
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "unavailable";
}
