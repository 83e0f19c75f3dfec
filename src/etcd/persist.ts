import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { StoreError } from "./store.ts";

/** First pause between attempts, and the longest, in ms. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;
/** What an attempt gets though the time of all is up, ms. */
const LEAST = 1_000;

/**
 * Repeats a call that got no answer, until one comes or its time is up. Only for calls that may be repeated.
 * @param until  instant on the clock, ms; there is at least one attempt
 * @param call   one attempt; its signal is aborted, with `unavailable`, when the time is up
 * @throws the last `unavailable`, at once any other error, or the signal's reason
 */
export async function persist<T>(
  ports: { clock: Clock; random: Random },
  until: number,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await inTime(ports.clock, until, call, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const wait = pause * (0.5 + ports.random.unit() / 2);
      if (!isUnavailable(error) || ports.clock.now() + wait >= until) throw error;
      await ports.clock.sleep(wait, signal);
    }
  }
}

async function inTime<T>(
  clock: Clock,
  until: number,
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const stop = new AbortController();
  const relay = () => stop.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", relay, { once: true });
  const over = new AbortController();
  const left = Math.max(LEAST, until - clock.now());
  if (Number.isFinite(left)) {
    const late = () => stop.abort(new StoreError("unavailable", `no answer within ${Math.round(left)} ms`));
    void clock.sleep(left, over.signal).then(late, () => {}); // rejected: the attempt has ended
  }
  try {
    return await call(stop.signal);
  } finally {
    signal?.removeEventListener("abort", relay);
    over.abort();
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "unavailable";
}

export function isCompacted(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "compacted";
}
