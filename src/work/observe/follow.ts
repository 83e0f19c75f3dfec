import { isCompacted, isUnavailable } from "../../etcd/persist.ts";
import type { StoreError, WatchBatch } from "../../etcd/store.ts";
import type { KeyRange } from "../../protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";
import { load, type Sink } from "./read.ts";
import { PROGRESS_EVERY, vigil } from "./vigil.ts";

/** What follows etcd: a sink that takes events too. */
export interface Follower extends Sink {
  /** What is watched. Default: the whole prefix, whose changes come in the order of revisions. */
  readonly watched?: readonly Required<KeyRange>[];
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
/** A watch that broke is not worth a word if everything was read again by then, ms: another member took over. */
const GRACE = 500;

/**
 * Keeps a sink equal to what is in etcd: one read pinned to a revision, then a watch from there over the whole prefix,
 * hence in the order of revisions. A watch that ends is followed by a new read, never by trust in what is there:
 * the revision may be compacted, and a cluster restored from a backup counts again from an earlier one.
 *
 * A watch that is silent is not believed either: etcd is asked beside it (see `vigil`). So what is not followed by `away`
 * was true 3 s ago; 5 s where the watch hangs on a member that is cut off.
 *
 * Ends only by throwing: the signal's reason; StoreError when etcd cannot be reached at first, or refuses for good.
 */
export async function* follow(
  ports: ObserverPorts,
  sink: Follower,
  signal: AbortSignal,
): AsyncGenerator<News, never> {
  let revision = await load(ports, sink, { signal });
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    yield { kind: "read", revision };
    const since = ports.clock.now();
    let end: unknown;
    try {
      for await (const batch of watched(ports, sink, revision, signal)) {
        sink.apply(batch);
        pause = FIRST_PAUSE;
        yield { kind: "batch", batch };
      }
    } catch (error) {
      end = error;
    }
    if (ports.clock.now() - since > LONGEST_PAUSE) pause = FIRST_PAUSE; // nothing may have happened for days
    revision = yield* reload(ports, sink, { end, pause }, signal);
  }
}

/** The changes from a revision on. @throws StoreError, also where they stay away in silence; the signal's reason */
async function* watched(
  ports: ObserverPorts,
  sink: Follower,
  from: bigint,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, never> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const course = { revision: from, tells: false };
  vigil(ports, course, either).catch((error) => stop.abort(error));
  try {
    // From the revision that was read, not from the next one: were that one compacted away meanwhile, etcd would take it
    // as a start all the same, and leave out what it deleted. What is told twice changes nothing.
    const ranges = [...(sink.watched ?? [ports.keys.everything()])];
    const request = { ranges, from, progress: PROGRESS_EVERY };
    for await (const batch of ports.store.watch(request, either)) {
      course.revision = batch.revision;
      if (batch.events.length > 0) yield batch;
      else course.tells = true;
    }
    throw new Error("a watch never ends by itself");
  } finally {
    stop.abort(new Error("the watch is over"));
  }
}

/** Reads again, for as long as that takes. @param end  why the watch ended; `pause` before the first attempt, ms */
async function* reload(
  ports: ObserverPorts,
  sink: Follower,
  { end, pause: first }: { end: unknown; pause: number },
  signal: AbortSignal,
): AsyncGenerator<News, bigint> {
  const stop = new AbortController(); // whoever follows may leave at any word
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    let pause = first;
    let reading = readAgain(ports, sink, worthTrying(end, signal) * pause, either);
    if (await isLate(ports, reading)) yield { kind: "away", error: end as StoreError };
    for (;;) {
      try {
        return await reading;
      } catch (error) {
        const weight = worthTrying(error, signal);
        if (weight > 0) yield { kind: "away", error: error as StoreError };
        pause = Math.min(2 * pause, LONGEST_PAUSE);
        reading = readAgain(ports, sink, weight * pause, either);
      }
    }
  } finally {
    stop.abort(new Error("nobody follows any more"));
  }
}

/** @returns how long to wait before another attempt, 0 or 1 pauses. @throws what no other attempt would mend */
function worthTrying(error: unknown, signal: AbortSignal): 0 | 1 {
  signal.throwIfAborted();
  if (isCompacted(error)) return 0;
  if (isUnavailable(error)) return 1;
  throw error;
}

async function readAgain(
  ports: ObserverPorts,
  sink: Follower,
  pause: number,
  signal: AbortSignal,
): Promise<bigint> {
  if (pause > 0) await ports.clock.sleep(pause * (0.5 + ports.random.unit() / 2), signal);
  return await load(ports, sink, { signal });
}

/** Whether something goes on for longer than is passed over in silence. Its failure is told to whoever waits for it. */
async function isLate({ clock }: ObserverPorts, reading: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(GRACE, over.signal).then(
    () => true,
    () => false,
  );
  const settled = reading.then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([late, settled]);
  } finally {
    over.abort();
  }
}
