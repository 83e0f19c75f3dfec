import type { QueueKind } from "../../protocol/keys.ts";
import { compareByClaim, dropAccompaniedMarks, isMark, type QueueEntry } from "../../protocol/ticket.ts";
import { CowMap } from "./cow-map.ts";
import { buildQueueId, type NamedQueue } from "./snapshot.ts";

interface QueueId {
  kind: QueueKind;
  name: string;
}

/** Changes of a queue, in order: an entry that was put, or the key of one that was deleted. */
type EntryChanges = (QueueEntry | string)[];

/**
 * Queue entries by queue. `getAll` merges the changes into each changed queue once, for any number of changes since the last call.
 * Nothing but the sorted entries is kept: a map of each queue's keys would need more memory than the entries.
 */
export class QueueIndex {
  readonly #queues = new CowMap<NamedQueue>();
  readonly #changes = new Map<string, { at: QueueId; list: EntryChanges }>();
  /** The marks of each queue. They become entries when their tickets vanish. */
  readonly #marks = new Map<string, QueueEntry[]>();

  put(at: QueueId, entry: QueueEntry): void {
    this.#listChanges(at).push(entry);
  }

  delete(at: QueueId, key: string): void {
    this.#listChanges(at).push(key);
  }

  getAll(): ReadonlyMap<string, NamedQueue> {
    for (const [id, { at, list }] of this.#changes) {
      const known = this.#queues.get(id)?.entries ?? [];
      const before = this.#marks.get(id);
      const merged = mergeEntries(before ? known.filter((one) => !isMark(one)).concat(before) : known, list);
      const marks = merged.filter(isMark);
      if (marks.length === 0) this.#marks.delete(id);
      else this.#marks.set(id, marks);
      const entries = marks.length === 0 ? merged : dropAccompaniedMarks(merged);
      this.#queues.put(id, entries.length === 0 ? undefined : { ...at, entries });
    }
    this.#changes.clear();
    return this.#queues.getAll();
  }

  #listChanges(at: QueueId): EntryChanges {
    const id = buildQueueId(at.kind, at.name);
    const changes = this.#changes.get(id) ?? { at, list: [] };
    this.#changes.set(id, changes);
    return changes.list;
  }
}

function mergeEntries(known: readonly QueueEntry[], changes: EntryChanges): QueueEntry[] {
  const last = new Map<string, QueueEntry | undefined>();
  for (const change of changes)
    if (typeof change === "string") last.set(change, undefined);
    else last.set(change.key, change);
  const kept = known.filter(({ key }) => !last.has(key));
  const current = [...last.values()].filter((entry) => entry !== undefined);
  return kept.concat(current).sort(compareByClaim);
}
