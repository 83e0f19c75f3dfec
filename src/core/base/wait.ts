import { addMs, type Clock, type Millis, subtractTime } from "./clock.ts";

export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => listenForAbort(signal, resolve));
}

/**
 * Calls a function when a signal is aborted, at once if it is already.
 * @returns a function that removes the listener, which otherwise stays in memory as long as the signal
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
 * Aborts a controller when a signal is aborted, with its reason. A signal of `AbortSignal.any` would stay in memory as
 * long as it has a listener and a source that may still be aborted; here nothing stays when the signal is gone.
 * @returns a function that stops forwarding, for a signal that outlives the work
 */
export function forwardAbort(from: AbortSignal | undefined, to: AbortController): () => void {
  return listenForAbort(from, () => to.abort(from?.reason));
}

/** A timer that fires this late, ms, shows that this process did not run. */
const NOT_RUN = 50;

/**
 * Sleeps until an answer counts as late. After a process was stopped, or got no processor time, its timers fire before it
 * has read the answers that arrived meanwhile. So if the timer fires late, this sleeps again for the length of the delay,
 * but at most for `ms`. Rejects as `Clock.sleep`.
 */
export async function sleepUntilLate(clock: Clock, ms: Millis, signal: AbortSignal): Promise<void> {
  const due = addMs(clock.now(), ms);
  await clock.sleep(ms, signal);
  const delay = subtractTime(clock.now(), due);
  if (delay > NOT_RUN) await clock.sleep(Math.min(delay, ms), signal);
}

/** Waits until a promise is settled, at most `ms`. Never rejects. @returns whether it is settled */
export async function waitAtMost(clock: Clock, ms: Millis, promise: Promise<unknown>): Promise<boolean> {
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
    over.abort(NO_LONGER_NEEDED);
  }
}

/** Waits for work until a signal is aborted. The work itself continues. @throws the signal's reason */
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

/** Maps items with at most `most` calls at the same time. The results are in the order of the items. */
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
 * The reason with which code aborts its own timers and listeners when they are no longer needed. `abort()` without a reason
 * creates a DOMException with a stack each time, which costs a busy worker more than the timer itself.
 */
export const NO_LONGER_NEEDED = new Error("no longer needed");
