import type { WatchBatch } from "../../etcd/store.ts";
import { checkedMembers } from "../../fleet/groups.ts";
import { type Drain, drainOf } from "../../protocol/drain.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import { type Timing, timingOf } from "../../schedule/timing.ts";
import { parseWorker, type WorkerRecord } from "../../schedule/worker-record.ts";
import type { Follower } from "../observe/follow.ts";
import { type Entry, forgetIn, isEmpty, newEntry, noteIn } from "./entry.ts";

/** Told by a book, after a change was applied. */
export interface BookListener {
  /** A schedule has changed, or what runs of it. */
  schedule(entry: Entry): void;
  /** @param isNews  false where it was read, and may have been written long ago */
  worker(id: string, record: WorkerRecord | undefined, isNews: boolean): void;
  /** Drains or groups have changed: any schedule may be another's now. */
  rules(): void;
}

/** Every schedule with its state, the workers, and the rules they go by, as etcd has them; without what was remembered. */
export class Book implements Follower {
  readonly ranges: readonly Required<KeyRange>[];
  /** Without outcomes, which weigh most; ranges that stand side by side in one, for within one the order is kept. */
  readonly watched: readonly Required<KeyRange>[];
  readonly entries = new Map<string, Entry>();
  readonly workers = new Map<string, WorkerRecord>();
  readonly groups = new Map<string, readonly string[]>();
  readonly drains = new Map<string, Drain>();
  revision = 0n;
  readonly #keys: Keys;
  readonly #wall: () => number;
  readonly #listener: BookListener;
  readonly #known = new Map<string, bigint>();
  #unseen: Set<string> | undefined;
  /** Written by own transactions while a read is under way, whose revision may be an earlier one. */
  readonly #fresh = new Set<string>();

  /** @param wall  wall clock, ms since the epoch */
  constructor(keys: Keys, wall: () => number, listener: BookListener) {
    this.#keys = keys;
    this.#wall = wall;
    this.#listener = listener;
    this.ranges = [
      keys.groups(),
      keys.drains(),
      keys.dues(),
      keys.runnings(),
      keys.schedules(),
      keys.workers(),
    ];
    this.watched = [
      keys.groups(),
      { key: keys.drains().key, rangeEnd: keys.dues().rangeEnd },
      { key: keys.runnings().key, rangeEnd: keys.workers().rangeEnd },
    ];
  }

  begin(): void {
    this.#unseen = new Set(this.#known.keys());
    this.#fresh.clear();
  }

  see(kv: KeyValue): void {
    this.#unseen?.delete(kv.key);
    if (this.#fresh.has(kv.key)) return;
    if (this.#known.get(kv.key) !== kv.modRevision) this.#put(kv);
  }

  finish(revision: bigint): void {
    const gone = this.#unseen ?? [];
    for (const key of gone) if (!this.#fresh.has(key)) this.#delete(key);
    this.#unseen = undefined;
    this.#fresh.clear();
    this.revision = revision;
  }

  apply({ revision, events }: WatchBatch): void {
    for (const event of events) {
      if (event.type === "put") this.wrote(event.kv);
      // Not a later key of that name, which an own transaction has put, and of which the watch is yet to tell.
      else if ((this.#known.get(event.key) ?? event.revision) < event.revision) this.#delete(event.key);
    }
    this.revision = revision;
  }

  /** Takes over a change: by others, or by an own transaction, before the watch tells it once more. */
  wrote(kv: KeyValue): void {
    if (this.#unseen !== undefined) this.#fresh.add(kv.key);
    if ((this.#known.get(kv.key) ?? 0n) < kv.modRevision) this.#put(kv);
  }

  /** Takes over that an own transaction has deleted a key of this revision; a later one of that name may stand there by now. */
  erased(key: string, mod: bigint): void {
    if (this.#known.get(key) === mod) this.#delete(key);
  }

  /** When the occurrences of a schedule are; undefined where it cannot be read. */
  timing(entry: Entry): Timing | undefined {
    if (entry.definition === undefined) return undefined;
    entry.timing ??= timingOf(entry.id, entry.definition);
    return entry.timing;
  }

  #put(kv: KeyValue): void {
    this.#known.set(kv.key, kv.modRevision);
    const parsed = this.#keys.parse(kv.key);
    switch (parsed.kind) {
      case "schedule":
      case "due":
      case "running": {
        const entry = this.#entry(parsed.name);
        noteIn(entry, parsed.kind, kv);
        return this.#listener.schedule(entry);
      }
      case "worker":
        return this.#meet(parsed.name, kv);
      case "group": {
        const members = checkedMembers(kv.value);
        this.groups.set(parsed.name, "value" in members ? members.value : []);
        return this.#listener.rules();
      }
      case "drain": {
        const drain = drainOf(this.#keys, kv);
        if (drain !== undefined) this.drains.set(kv.key, drain);
        return this.#listener.rules();
      }
    }
  }

  #entry(id: string): Entry {
    const there = this.entries.get(id);
    if (there !== undefined) return there;
    const entry = newEntry(id, this.#wall());
    this.entries.set(id, entry);
    return entry;
  }

  #meet(id: string, { value }: KeyValue): void {
    const parsed = parseWorker(value);
    if ("fault" in parsed) return this.#part(id);
    this.workers.set(id, parsed.value);
    this.#listener.worker(id, parsed.value, this.#unseen === undefined);
  }

  #part(id: string): void {
    if (this.workers.delete(id)) this.#listener.worker(id, undefined, true);
  }

  #delete(key: string): void {
    this.#known.delete(key);
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "worker") return this.#part(parsed.name);
    if (parsed.kind === "group" ? this.groups.delete(parsed.name) : this.drains.delete(key))
      return this.#listener.rules();
    const entry = "name" in parsed ? this.entries.get(parsed.name) : undefined;
    if (entry === undefined) return;
    forgetIn(entry, parsed.kind, key, this.#wall());
    if (isEmpty(entry)) this.entries.delete(entry.id);
    this.#listener.schedule(entry);
  }
}
