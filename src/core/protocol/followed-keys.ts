import type { KeyRange, KeyValue, WatchBatch } from "./txn.ts";

/** The `mod_revision` of each key. */
export interface RevisionMap {
  readonly size: number;
  get(key: string): bigint | undefined;
  set(key: string, revision: bigint): void;
  delete(key: string): void;
  keys(): Iterable<string>;
}

/**
 * Keeps a copy of keys in etcd up to date, from complete reads, watch events and the process's own transactions.
 * A subclass stores what the keys mean; this class decides which changes are new.
 *
 * Call `begin`, then `add` for each key of a complete read, then `finish`. `finish` removes the keys that were not part
 * of the read, so a read after a disconnect has the same result as a first read. Pass watch events to `apply` in
 * batches of complete revisions; a watch may repeat changes that the read included.
 */
export abstract class FollowedKeys {
  /** The key ranges to read, all at one revision. */
  abstract readonly ranges: readonly Required<KeyRange>[];
  readonly #known: RevisionMap;
  /** Keys that the current read has not returned yet; undefined outside a read. */
  #unseen: Set<string> | undefined;
  /** Keys that transactions of this process wrote during a read. The revision of the read may be older. */
  readonly #fresh = new Set<string>();
  #revision = 0n;

  /** @param known  where revisions are stored */
  constructor(known: RevisionMap = new Map<string, bigint>()) {
    this.#known = known;
  }

  protected abstract storeKey(kv: KeyValue): void;
  protected abstract removeKey(key: string): void;

  /** Revision of the last complete read or batch. */
  get revision(): bigint {
    return this.#revision;
  }

  /** Whether a read is in progress: the copy is incomplete, and keys that the read adds may be outdated. */
  protected get isReading(): boolean {
    return this.#unseen !== undefined;
  }

  begin(): void {
    this.#unseen = new Set(this.#known.keys());
    this.#fresh.clear();
  }

  add(kv: KeyValue): void {
    this.#unseen?.delete(kv.key);
    if (this.#fresh.has(kv.key)) return;
    // After etcd was restored from a backup, a key may have a lower revision than before.
    if (this.#known.get(kv.key) !== kv.modRevision) this.#store(kv);
  }

  /** Ends a read. @param revision  revision of the read */
  finish(revision: bigint): void {
    for (const key of this.#unseen ?? []) if (!this.#fresh.has(key)) this.#remove(key);
    this.#unseen = undefined;
    this.#fresh.clear();
    this.#revision = revision;
  }

  /** Applies watch events. @param batch  all changes of its revisions, in order; keys outside the ranges are ignored */
  apply({ revision, events }: WatchBatch): void {
    for (const event of events) {
      if (!this.#isInRanges(event.type === "put" ? event.kv.key : event.key)) continue;
      if (event.type === "put") this.applyPut(event.kv);
      // A transaction of this process may have written a later key of the same name that the watch has not delivered
      // yet.
      else if ((this.#known.get(event.key) ?? event.revision) < event.revision) this.#remove(event.key);
    }
    this.#revision = revision;
  }

  /** Applies a change by another process, or by a transaction of this process before the watch delivers it again. */
  applyPut(kv: KeyValue): void {
    if (this.isReading) this.#fresh.add(kv.key);
    if ((this.#known.get(kv.key) ?? 0n) < kv.modRevision) this.#store(kv);
  }

  /**
   * Applies a delete by a transaction of this process. Keeps the key if it has another revision than `mod`: a later key
   * of the same name may exist.
   */
  applyDelete(key: string, mod: bigint): void {
    if (this.#known.get(key) === mod) this.#remove(key);
  }

  /** `mod_revision` of every key. */
  get revisions(): Readonly<RevisionMap> {
    return this.#known;
  }

  #isInRanges(key: string): boolean {
    return this.ranges.some((range) => key >= range.key && key < range.rangeEnd);
  }

  #store(kv: KeyValue): void {
    this.#known.set(kv.key, kv.modRevision);
    this.storeKey(kv);
  }

  #remove(key: string): void {
    this.#known.delete(key);
    this.removeKey(key);
  }
}
