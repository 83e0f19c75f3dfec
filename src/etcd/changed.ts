import type { Clock } from "../base/clock.ts";
import { type Store, StoreError, type WatchRequest } from "./store.ts";

/** A broken watch is tried again by reading again, but not in a tight loop. */
const AFTER_FAILURE = 200;

/** Why a wait ended: an event came, its time was up, or the watch broke and may have missed something. */
export type Wake = "event" | "time" | "broken";

/**
 * Waits until something may have changed: an event came, the watch broke, or `ms` have passed. The caller reads again
 * in every case, so a watch that dies in silence costs time, never correctness.
 * @throws the signal's reason; StoreError when etcd refuses for good (`permission`, `unauthenticated`, `invalid`)
 */
export async function changed(
  ports: { store: Store; clock: Clock },
  request: WatchRequest,
  ms: number,
  signal: AbortSignal,
): Promise<Wake> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const relay = () => stop.abort(signal.reason);
  signal.addEventListener("abort", relay, { once: true });
  try {
    const timer = ports.clock.sleep(ms, stop.signal).then((): Wake => "time");
    return await Promise.race([timer, firstEvent(ports, request, stop.signal)]);
  } finally {
    signal.removeEventListener("abort", relay);
    stop.abort();
  }
}

async function firstEvent(
  ports: { store: Store; clock: Clock },
  request: WatchRequest,
  signal: AbortSignal,
): Promise<Wake> {
  try {
    for await (const _ of ports.store.watch(request, signal)) return "event";
  } catch (error) {
    if (!(error instanceof StoreError) || isFinal(error)) throw error;
    await ports.clock.sleep(AFTER_FAILURE, signal);
  }
  return "broken";
}

function isFinal(error: StoreError): boolean {
  return error.kind === "permission" || error.kind === "unauthenticated" || error.kind === "invalid";
}
