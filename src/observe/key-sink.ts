import { FollowedKeys } from "../protocol/followed-keys.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";

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
