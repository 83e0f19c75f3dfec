import { type Clock, forwardAbort, type Millis, NO_LONGER_NEEDED } from "../base/clock.ts";
import type { WatchEvent, WatchRequest } from "../protocol/txn.ts";
import { type Store, StoreError, type StoreErrorKind } from "./store.ts";

/** Pause after a broken watch before the caller reads again, ms. Prevents a tight loop. */
const BROKEN_WATCH_PAUSE_MS = 200;

const FINAL_ERROR_KINDS: ReadonlySet<StoreErrorKind> = new Set([
  "permission",
  "unauthenticated",
  "invalid",
  "notEtcd",
]);

/** Why a wait ended: an event arrived, the time was up, or the watch broke and may have missed an event. */
export type WakeReason = "event" | "time" | "broken";

/**
 * Waits until something may have changed: an event arrived, the watch broke, or `ms` have passed. The caller reads
 * again in every case, so a watch that stops without an error costs time, never correctness.
 * @param handleEvents  called with the events, for callers that must not wait for the read; if it returns false, the wait goes on
 * @throws the signal's reason; StoreError when etcd refuses permanently (`permission`, `unauthenticated`, `invalid`,
 * `notEtcd`)
 */
export async function waitForChange(
  ports: { store: Store; clock: Clock },
  request: WatchRequest,
  ms: Millis,
  signal: AbortSignal,
  handleEvents?: (events: readonly WatchEvent[]) => unknown,
): Promise<WakeReason> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const stopForwarding = forwardAbort(signal, stop);
  try {
    const timer = ports.clock.sleep(ms, stop.signal).then((): WakeReason => "time");
    return await Promise.race([timer, awaitFirstEvent(ports, request, stop.signal, handleEvents)]);
  } finally {
    stopForwarding();
    stop.abort(NO_LONGER_NEEDED);
  }
}

async function awaitFirstEvent(
  ports: { store: Store; clock: Clock },
  request: WatchRequest,
  signal: AbortSignal,
  handleEvents?: (events: readonly WatchEvent[]) => unknown,
): Promise<WakeReason> {
  try {
    for await (const { events } of ports.store.watch(request, signal)) {
      if (handleEvents?.(events) !== false) return "event";
    }
  } catch (error) {
    if (!(error instanceof StoreError) || FINAL_ERROR_KINDS.has(error.kind)) throw error;
    await ports.clock.sleep(BROKEN_WATCH_PAUSE_MS, signal);
  }
  return "broken";
}
