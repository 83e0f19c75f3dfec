import type { Keys } from "../../../protocol/keys.ts";
import type { WatchEvent } from "../../../protocol/txn.ts";

/**
 * Sums how many bytes a watch has seen written, by collection. etcd keeps every value until it is compacted, so a key that is
 * overwritten fills the database as well as new keys do.
 */
export function sumWrittenBytes(keys: Keys, events: readonly WatchEvent[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "put") continue;
    const { key, value } = event.kv;
    const collection = keys.findFirstSegment(key) ?? "other"; // the label takes no value that a user can choose
    sums.set(collection, (sums.get(collection) ?? 0) + Buffer.byteLength(key) + Buffer.byteLength(value));
  }
  return sums;
}
