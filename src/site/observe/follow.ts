import { type Millis, type MonotonicTime, subtractTime, waitAtMost } from "../../core/base/clock.ts";
import { isCompacted, isUnavailable, StoreError } from "../../core/etcd/store.ts";
import { FollowedKeys, type RevisionMap } from "../../core/protocol/followed-keys.ts";
import type { KeyRange, KeyValue, WatchBatch } from "../../core/protocol/txn.ts";
import { probeEtcd } from "./etcd-cluster.ts";
import type { ObserverPorts } from "./ports.ts";
import { load, readPages, type Sink } from "./read.ts";

/** A range to watch, or to watch only for deleted keys. */
export type WatchedRange = Required<KeyRange> & { only?: "deletes" };

/** A sink that also accepts watch events. */
export interface WatchSink extends Sink {
  /** The ranges to watch. Default: the whole prefix, with changes in the order of revisions. */
  readonly watchedRanges?: readonly WatchedRange[];
  /** `mod_revision` of every key. */
  readonly revisions: Pick<RevisionMap, "get" | "keys">;
  apply(batch: WatchBatch): void;
}

export type FollowEvent =
  /**
   * Everything was read: at the start, and again after the watch broke. `lost`: keys of which the watch had lost changes,
   * which this read has brought.
   */
  | { kind: "read"; revision: bigint; lost: readonly string[] }
  | { kind: "batch"; batch: WatchBatch }
  /** etcd does not answer; the data of the last read remain. Followed by another `away` or by a `read`. */
  | { kind: "away"; error: StoreError };

/** Pauses between attempts while etcd is away, ms. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;
/**
 * If everything is read again within this time after a watch broke, ms, the break is not reported: another member took
 * over.
 */
const UNREPORTED_BREAK_MS = 500;

/**
 * Keeps a sink equal to the contents of etcd: one read pinned to a revision, then a watch of the whole prefix from
 * there, in the order of revisions. After a watch ends, everything is read again, because the old data cannot be
 * trusted: the revision may be compacted, and a cluster restored from a backup continues from an earlier revision.
 *
 * A silent watch is not trusted either: a watchdog probes etcd in parallel (see `runWatchdog`). Data without a
 * following `away` were therefore current 3 s ago; 5 s when the watch hangs on a member that is cut off. A watch that loses
 * changes is found out within minutes (see `watchForLostChanges`).
 *
 * Ends only by throwing: the signal's reason; StoreError when etcd is unavailable at the start, or refuses permanently.
 */
export async function* followEtcd(
  ports: ObserverPorts,
  sink: WatchSink,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent, never> {
  let revision = await load(ports, sink, { signal });
  let lost: readonly string[] = [];
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    yield { kind: "read", revision, lost };
    const since = ports.clock.now();
    let end: unknown;
    try {
      for await (const batch of watchChanges(ports, sink, revision, signal)) {
        sink.apply(batch);
        pause = FIRST_PAUSE;
        yield { kind: "batch", batch };
      }
    } catch (error) {
      end = error;
    }
    if (subtractTime(ports.clock.now(), since) > LONGEST_PAUSE) pause = FIRST_PAUSE; // after a long watch, start with short pauses
    lost = end instanceof LostChanges ? end.keys : [];
    revision = yield* reload(ports, sink, { end, pause }, signal);
  }
}

/** Yields the changes from a revision on. @throws StoreError, also when the watch hangs; the signal's reason */
async function* watchChanges(
  ports: ObserverPorts,
  sink: WatchSink,
  from: bigint,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, never> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const progress = { revision: from, reportsProgress: false };
  runWatchdog(ports, progress, either).catch((error) => stop.abort(error));
  watchForLostChanges(ports, sink, either).catch((error) => stop.abort(error));
  try {
    // Watches from the revision of the read, not from the next one. If the next revision was compacted in the meantime,
    // etcd accepts it as a start, but omits the deletions in it. Repeated events have no effect.
    const ranges = [...(sink.watchedRanges ?? [ports.keys.getFullRange()])];
    const request = { ranges, from, progress: PROGRESS_EVERY };
    for await (const batch of ports.store.watch(request, either)) {
      progress.revision = batch.revision;
      if (batch.events.length > 0) yield batch;
      else progress.reportsProgress = true;
    }
    throw new Error("a watch never ends by itself");
  } finally {
    stop.abort(new Error("the watch is over"));
  }
}

/** Reads again until it succeeds. @param end  why the watch ended; `pause` before the first attempt */
async function* reload(
  ports: ObserverPorts,
  sink: WatchSink,
  { end, pause: first }: { end: unknown; pause: Millis },
  signal: AbortSignal,
): AsyncGenerator<FollowEvent, bigint> {
  const stop = new AbortController(); // the consumer may stop at any yield
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    let pause = first;
    let reading = readAfterPause(ports, sink, getRetryWeight(end, signal) * pause, either);
    if (!(await waitAtMost(ports.clock, UNREPORTED_BREAK_MS, reading)))
      yield { kind: "away", error: end as StoreError };
    for (;;) {
      try {
        return await reading;
      } catch (error) {
        const weight = getRetryWeight(error, signal);
        if (weight > 0) yield { kind: "away", error: error as StoreError };
        pause = Math.min(2 * pause, LONGEST_PAUSE);
        reading = readAfterPause(ports, sink, weight * pause, either);
      }
    }
  } finally {
    stop.abort(new Error("nobody follows any more"));
  }
}

/** @returns the wait before another attempt, 0 or 1 pauses. @throws errors that a retry cannot fix */
function getRetryWeight(error: unknown, signal: AbortSignal): 0 | 1 {
  signal.throwIfAborted();
  if (isCompacted(error)) return 0;
  if (isUnavailable(error)) return 1;
  throw error;
}

async function readAfterPause(
  ports: ObserverPorts,
  sink: WatchSink,
  pause: Millis,
  signal: AbortSignal,
): Promise<bigint> {
  if (pause > 0) await ports.clock.sleep(pause * (0.5 + ports.random.generateFraction() / 2), signal);
  return await load(ports, sink, { signal });
}

/** Pause between probes, ms. */
const PROBE_EVERY = 1_000;
/**
 * Interval at which a watch is asked for its progress, ms; the watch ends if no answer arrives within another interval.
 */
const PROGRESS_EVERY = 1_500;
/** A watch that is behind etcd for this time without any progress hangs, ms. */
const STUCK_AFTER = 2 * PROGRESS_EVERY;

/** The progress of a watch, from its own reports. */
export interface WatchProgress {
  /** The watch has delivered everything up to this revision. */
  revision: bigint;
  /** Whether the watch reports its progress when nothing changes; old members do not. */
  reportsProgress: boolean;
}

/**
 * Checks a watch. A watch may be silent because nothing changes, because the member is gone, or because it hangs on a
 * member that is cut off from the others. Probes etcd about once a second.
 * @param progress  updated by the reader of the watch
 * @throws StoreError when etcd does not answer or refuses, or when the watch does not reach the revision of etcd; the
 * signal's reason. Never returns
 */
export async function runWatchdog(
  ports: ObserverPorts,
  progress: Readonly<WatchProgress>,
  signal: AbortSignal,
): Promise<never> {
  const { clock } = ports;
  for (let behind: { heard: bigint; since: MonotonicTime } | undefined; ; ) {
    await clock.sleep(PROBE_EVERY, signal);
    const { revision: heard } = progress;
    const { revision } = await probeEtcd(ports, signal);
    if (!progress.reportsProgress || progress.revision >= revision) behind = undefined;
    else if (behind === undefined || heard !== behind.heard) behind = { heard, since: clock.now() };
    else if (subtractTime(clock.now(), behind.since) > STUCK_AFTER)
      throw new StoreError("unavailable", "changes are no longer reported");
  }
}

/** Keys that are kept equal to etcd. */
type FollowedRanges = Pick<WatchSink, "ranges" | "watchedRanges" | "revisions">;

/** A key that is not the same here and in etcd: its `mod_revision`; undefined where it does not exist. */
interface Difference {
  here: bigint | undefined;
  there: bigint | undefined;
}

/** A watch did not deliver changes, and reported no fault. */
class LostChanges extends StoreError {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super("unavailable", `the watch has lost changes of ${keys.length} keys, such as ${keys[0]}`);
    this.keys = keys;
  }
}

/** Mean time between two comparisons, ms. */
const COMPARE_EVERY = 5 * 60_000;
/** Reading all keys takes at most this part of the time, but a comparison is at most so long after the one before, ms. */
const LARGEST_SHARE = 0.01;
const COMPARE_WITHIN = 60 * 60_000;
/** Time after which a change that is on its way has arrived, ms: a watch that is slower is reported as hanging. */
const ARRIVES_WITHIN = 5_000;

/**
 * Compares from time to time what is kept with what etcd has. Members of etcd can lose watch events (etcd issues 17529 and
 * 18089). A comparison reads all keys without their values.
 * @throws LostChanges; the signal's reason. Never returns
 */
async function watchForLostChanges(
  ports: ObserverPorts,
  followed: FollowedRanges,
  signal: AbortSignal,
): Promise<never> {
  const { clock, random } = ports;
  for (let took = 0; ; ) {
    const pause = Math.min(COMPARE_WITHIN, Math.max(COMPARE_EVERY, took / LARGEST_SHARE));
    await clock.sleep(pause * (0.5 + random.generateFraction()), signal);
    const start = clock.now();
    const differences = await compareUnlessAway(ports, followed, signal);
    took = subtractTime(clock.now(), start);
    if (differences.size === 0) continue;
    await clock.sleep(ARRIVES_WITHIN, signal);
    const lost = selectLasting(differences, await compareUnlessAway(ports, followed, signal));
    if (lost.length > 0) throw new LostChanges(lost);
  }
}

/** Returns the keys that have differed in the same way all the time: the others were on their way. */
function selectLasting(
  before: ReadonlyMap<string, Difference>,
  after: ReadonlyMap<string, Difference>,
): string[] {
  const isLasting = (key: string, { here, there }: Difference) => {
    const now = after.get(key);
    return now !== undefined && now.here === here && now.there === there;
  };
  return [...before].flatMap(([key, difference]) => (isLasting(key, difference) ? [key] : []));
}

/** A failed read says nothing: `runWatchdog` reports an etcd that is away, and a compaction may overtake the read. */
async function compareUnlessAway(
  ports: ObserverPorts,
  followed: FollowedRanges,
  signal: AbortSignal,
): Promise<Map<string, Difference>> {
  try {
    return await compareKeys(ports, followed, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StoreError) return new Map();
    throw error;
  }
}

async function compareKeys(
  ports: ObserverPorts,
  { ranges, watchedRanges = [], revisions }: FollowedRanges,
  signal: AbortSignal,
): Promise<Map<string, Difference>> {
  const stored = new Map<string, bigint>();
  let revision: bigint | undefined;
  for (const range of ranges)
    for await (const page of readPages(ports, range, { keysOnly: true, revision, signal })) {
      revision ??= page.revision;
      for (const { key, modRevision } of page.kvs) stored.set(key, modRevision);
    }
  const differences = new Map<string, Difference>();
  const deletable = watchedRanges.filter(({ only }) => only === "deletes");
  const isPutUnwatched = (key: string) => deletable.some((range) => key >= range.key && key < range.rangeEnd);
  const compare = (key: string) => {
    const [here, there] = [revisions.get(key), stored.get(key)];
    const isEqual = here === there || (there !== undefined && isPutUnwatched(key));
    if (!isEqual) differences.set(key, { here, there });
  };
  for (const key of stored.keys()) compare(key);
  for (const key of revisions.keys()) compare(key);
  return differences;
}

/** Keeps the keys of a few small ranges, for `followEtcd`. It watches only these. */
export class KeySink extends FollowedKeys {
  readonly ranges: readonly Required<KeyRange>[];
  readonly watchedRanges: readonly Required<KeyRange>[];
  readonly stored = new Map<string, KeyValue>();

  constructor(...ranges: readonly Required<KeyRange>[]) {
    super();
    this.ranges = ranges;
    this.watchedRanges = ranges;
  }

  protected override storeKey(kv: KeyValue): void {
    this.stored.set(kv.key, kv);
  }

  protected override removeKey(key: string): void {
    this.stored.delete(key);
  }
}
