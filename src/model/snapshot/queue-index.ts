import type { QueueKind } from "../../protocol/keys.ts";
import { compareByClaim, type QueueEntry } from "../../protocol/ticket.ts";
import { CowMap } from "./cow-map.ts";
import { buildQueueId, type NamedQueue } from "./snapshot.ts";

interface QueueId {
  kind: QueueKind;
  name: string;
}

/** Queue entries by queue. `getAll` sorts each changed queue once, for any number of changes since the last call. */
export class QueueIndex {
  readonly #members = new Map<string, Map<string, QueueEntry>>();
  readonly #ordered = new CowMap<NamedQueue>();
  readonly #stale = new Map<string, QueueId>();

  put(at: QueueId, entry: QueueEntry): void {
    const id = this.#markStale(at);
    const members = this.#members.get(id) ?? new Map<string, QueueEntry>();
    this.#members.set(id, members.set(entry.key, entry));
  }

  delete(at: QueueId, key: string): void {
    const id = this.#markStale(at);
    const members = this.#members.get(id);
    members?.delete(key);
    if (members?.size === 0) this.#members.delete(id);
  }

  getAll(): ReadonlyMap<string, NamedQueue> {
    for (const [id, at] of this.#stale) {
      const members = this.#members.get(id);
      if (members === undefined) this.#ordered.delete(id);
      else this.#ordered.put(id, { ...at, entries: [...members.values()].sort(compareByClaim) });
    }
    this.#stale.clear();
    return this.#ordered.getAll();
  }

  #markStale(at: QueueId): string {
    const id = buildQueueId(at.kind, at.name);
    this.#stale.set(id, at);
    return id;
  }
}
