import { FollowedKeys } from "../protocol/followed-keys.ts";
import { type QueueEntry, toQueue } from "../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";

/** Keeps the tickets of one queue, for `followEtcd`. */
export class QueueSink extends FollowedKeys {
  readonly ranges: readonly Required<KeyRange>[];
  readonly #tickets = new Map<string, KeyValue>();

  constructor(range: Required<KeyRange>) {
    super();
    this.ranges = [range];
  }

  get watchedRanges(): readonly Required<KeyRange>[] {
    return this.ranges;
  }

  protected override storeKey(kv: KeyValue): void {
    this.#tickets.set(kv.key, kv);
  }

  protected override removeKey(key: string): void {
    this.#tickets.delete(key);
  }

  /** Returns the first entry whose run holds the queue. */
  findHolder(): QueueEntry | undefined {
    return toQueue([...this.#tickets.values()]).find(({ ticket }) => ticket?.state === "held");
  }
}
