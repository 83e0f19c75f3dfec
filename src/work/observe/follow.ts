import { isCompacted, isUnavailable } from "../../etcd/persist.ts";
import type { StoreError, WatchBatch } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";
import { load, type Sink } from "./read.ts";

/** What follows etcd: a sink that takes events too. */
export interface Follower extends Sink {
  apply(batch: WatchBatch): void;
}

/** What has just happened to a follower. */
export type News =
  /** It was read as a whole: at first, and again after the watch broke. */
  | { kind: "read"; revision: bigint }
  | { kind: "batch"; batch: WatchBatch }
  /** Etcd does not answer; what was read last stays. Followed by another of these, or by a `read`. */
  | { kind: "away"; error: StoreError };

/** Pauses between attempts while etcd is away, ms. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/**
 * Keeps a sink equal to what is in etcd: one read pinned to a revision, then a watch from there over the whole prefix,
 * hence in the order of revisions. A watch that ends is followed by a new read, never by trust in what is there:
 * the revision may be compacted, and a cluster restored from a backup counts again from an earlier one.
 *
 * Ends only by throwing: the signal's reason; StoreError when etcd cannot be reached at first, or refuses for good.
 */
export async function* follow(
  ports: ObserverPorts,
  sink: Follower,
  signal: AbortSignal,
): AsyncGenerator<News, never> {
  let revision = await load(ports, sink, { signal });
  for (let pause = FIRST_PAUSE; ; ) {
    yield { kind: "read", revision };
    try {
      // From the revision that was read, not from the next one: were that one compacted away meanwhile, etcd would take it
      // as a start all the same, and leave out what it deleted. What is told twice changes nothing.
      const request = { ranges: [ports.keys.everything()], from: revision };
      for await (const batch of ports.store.watch(request, signal)) {
        sink.apply(batch);
        pause = FIRST_PAUSE;
        yield { kind: "batch", batch };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isCompacted(error)) yield* away(ports, error, pause, signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    revision = yield* reload(ports, sink, signal);
  }
}

/** Reads again, for as long as that takes. */
async function* reload(
  ports: ObserverPorts,
  sink: Follower,
  signal: AbortSignal,
): AsyncGenerator<News, bigint> {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await load(ports, sink, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isCompacted(error)) yield* away(ports, error, pause, signal);
    }
  }
}

async function* away(
  ports: ObserverPorts,
  error: unknown,
  pause: number,
  signal: AbortSignal,
): AsyncGenerator<News, void> {
  if (!isUnavailable(error)) throw error;
  yield { kind: "away", error: error as StoreError };
  await ports.clock.sleep(pause * (0.5 + ports.random.unit() / 2), signal);
}
