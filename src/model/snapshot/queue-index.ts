import type { QueueKind } from "../../protocol/keys.ts";
import { compareByClaim, type QueueEntry } from "../../protocol/ticket.ts";
import { CowMap } from "./cow-map.ts";
import { buildQueueId, type NamedQueue } from "./snapshot.ts";

interface QueueId {
  kind: QueueKind;
  name: string;
}

/** What each changed key of a queue holds now; undefined: it is deleted. */
type ChangedEntries = Map<string, QueueEntry | undefined>;

/**
 * Queue entries by queue. `getAll` merges the changes into each changed queue once, for any number of changes since the last call.
 * Nothing but the sorted entries is kept: a map of each queue's keys would need more memory than the entries.
 */
export class QueueIndex {
  readonly #queues = new CowMap<NamedQueue>();
  readonly #changes = new Map<string, { at: QueueId; changed: ChangedEntries }>();

  put(at: QueueId, entry: QueueEntry): void {
    this.#change(at, entry.key, entry);
  }

  delete(at: QueueId, key: string): void {
    this.#change(at, key, undefined);
  }

  getAll(): ReadonlyMap<string, NamedQueue> {
    for (const [id, { at, changed }] of this.#changes) {
      const entries = mergeEntries(this.#queues.get(id)?.entries ?? [], changed);
      this.#queues.put(id, entries.length === 0 ? undefined : { ...at, entries });
    }
    this.#changes.clear();
    return this.#queues.getAll();
  }

  #change(at: QueueId, key: string, entry: QueueEntry | undefined): void {
    const id = buildQueueId(at.kind, at.name);
    const changes = this.#changes.get(id) ?? { at, changed: new Map() };
    changes.changed.set(key, entry);
    this.#changes.set(id, changes);
  }
}

function mergeEntries(known: readonly QueueEntry[], changed: ChangedEntries): QueueEntry[] {
  const kept = known.filter(({ key }) => !changed.has(key));
  const current = [...changed.values()].filter((entry) => entry !== undefined);
  return kept.concat(current).sort(compareByClaim);
}
