import type { Clock } from "./clock.ts";

/** Resolves when the signal is aborted. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => listenForAbort(signal, resolve));
}

/**
 * Calls a function when a signal is aborted, at once if it is already.
 * @returns a function that removes the listener: it stays in memory as long as the signal
 */
export function listenForAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  else signal?.addEventListener("abort", act, { once: true });
  return () => signal?.removeEventListener("abort", act);
}

/** Returns a signal that aborts with the first of the signals. */
export function mergeSignals(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}

/**
 * Aborts a controller when a signal is aborted, with its reason. Unlike `AbortSignal.any`, whose signal stays in memory as long as it
 * has a listener and a source that may still be aborted, nothing stays when the signal is gone.
 * @returns a function that ends it, for a signal that outlives the work
 */
export function forwardAbort(from: AbortSignal | undefined, to: AbortController): () => void {
  return listenForAbort(from, () => to.abort(from?.reason));
}

/** Delay of a timer, ms, that shows that this process did not run. */
const NOT_RUN = 50;

/**
 * Sleeps until an answer is late. A process that was stopped, or got no processor, finds its timers due before it has read
 * the answers that came meanwhile: after a delay it sleeps once more for as long, at most for `ms`. Rejects as `Clock.sleep`.
 */
export async function sleepUntilLate(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const due = clock.now() + ms;
  await clock.sleep(ms, signal);
  const delay = clock.now() - due;
  if (delay > NOT_RUN) await clock.sleep(Math.min(delay, ms), signal);
}

/** Waits until a promise is settled, at most `ms`. Never rejects. @returns whether it is settled */
export async function waitAtMost(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const timer = clock.sleep(ms, over.signal).then(
    () => false,
    () => false,
  );
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([timer, settled]);
  } finally {
    over.abort(OVER);
  }
}

/** Waits for work that goes on if this wait is given up. @throws the signal's reason */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stopListening = listenForAbort(signal, () => aborted.reject(signal.reason));
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    stopListening();
  }
}

/** Maps items, with at most so many calls at the same time. The results are in the order of the items. */
export async function mapAtMost<T, R>(
  items: readonly T[],
  most: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const mapNext = async () => {
    for (const [at, item] of next) results[at] = await map(item);
  };
  await Promise.all(Array.from({ length: most }, mapNext));
  return results;
}

/**
 * The reason with which code ends its own timers and listeners when their work is done. `abort()` without a reason creates
 * a DOMException with a stack each time, which costs a busy worker more than the timer itself.
 */
export const OVER = new Error("it is over");
