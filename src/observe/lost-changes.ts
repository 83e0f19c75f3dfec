import { StoreError } from "../etcd/store.ts";
import type { KeyRange } from "../protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";
import { readPages } from "./read.ts";

/** Keys that are kept equal to etcd. */
interface FollowedRanges {
  readonly ranges: readonly Required<KeyRange>[];
  /** `mod_revision` of every key that is kept. */
  readonly revisions: ReadonlyMap<string, bigint>;
}

/** A key that is not the same here and in etcd: its `mod_revision`; undefined where it does not exist. */
interface Difference {
  here: bigint | undefined;
  there: bigint | undefined;
}

/** A watch did not deliver changes, and reported no fault. */
export class LostChanges extends StoreError {
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
export async function watchForLostChanges(
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
    took = clock.now() - start;
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
  { ranges, revisions }: FollowedRanges,
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
  const compare = (key: string) => {
    const [here, there] = [revisions.get(key), stored.get(key)];
    if (here !== there) differences.set(key, { here, there });
  };
  for (const key of stored.keys()) compare(key);
  for (const key of revisions.keys()) compare(key);
  return differences;
}
