import type { Keys } from "../../../protocol/keys.ts";
import type { WatchEvent } from "../../../protocol/txn.ts";

/** First segments of keys; a label takes no other value. */
const COLLECTIONS: ReadonlySet<string> = new Set(
  "agents audit config drains due history hosts locks outcomes output resources running schedules workers".split(
    " ",
  ),
);

/**
 * Sums how many bytes a watch has seen written, by collection. etcd keeps every value until it is compacted, so a key that is
 * overwritten fills the database as well as new keys do.
 */
export function sumWrittenBytes(keys: Keys, events: readonly WatchEvent[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "put") continue;
    const { key, value } = event.kv;
    const collection = key.slice(keys.prefix.length).split("/", 1)[0] ?? "";
    const name = COLLECTIONS.has(collection) ? collection : "other";
    sums.set(name, (sums.get(name) ?? 0) + Buffer.byteLength(key) + Buffer.byteLength(value));
  }
  return sums;
}
