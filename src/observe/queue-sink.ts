import type { WatchBatch } from "../etcd/store.ts";
import { type QueueEntry, toQueue } from "../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";
import type { WatchSink } from "./follow.ts";

/** Keeps the tickets of one queue, for `followEtcd`. */
export class QueueSink implements WatchSink {
  readonly ranges: readonly Required<KeyRange>[];
  readonly #tickets = new Map<string, KeyValue>();

  constructor(range: Required<KeyRange>) {
    this.ranges = [range];
  }

  get watchedRanges(): readonly Required<KeyRange>[] {
    return this.ranges;
  }

  begin(): void {
    this.#tickets.clear();
  }

  add(kv: KeyValue): void {
    this.#tickets.set(kv.key, kv);
  }

  finish(): void {}

  apply({ events }: WatchBatch): void {
    for (const event of events) {
      if (event.type === "delete") this.#tickets.delete(event.key);
      else this.add(event.kv);
    }
  }

  /** Returns the first entry whose run holds the queue. */
  findHolder(): QueueEntry | undefined {
    return toQueue([...this.#tickets.values()]).find(({ ticket }) => ticket?.state === "held");
  }
}
