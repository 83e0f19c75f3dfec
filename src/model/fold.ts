import { checkedMembers } from "../fleet/groups.ts";
import { type HostRecord, parseHost } from "../fleet/host-record.ts";
import { parseResource, type ResourceConfig } from "../fleet/resources.ts";
import { type AuditRecord, auditOf } from "../protocol/audit.ts";
import { type Drain, drainOf } from "../protocol/drain.ts";
import { type PastRun, pastRuns } from "../protocol/history.ts";
import type { Keys } from "../protocol/keys.ts";
import { placeOf } from "../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";
import { type Definition, parseDefinition } from "../schedule/definition.ts";
import { type Due, parseDue } from "../schedule/due.ts";
import { parseWorker } from "../schedule/worker-record.ts";
import { Executions } from "./executions.ts";
import type { Kept, Picture, Room, Seat } from "./picture.ts";
import { Queues } from "./queues.ts";
import { Shelf } from "./shelf.ts";

/** A change as a watch delivers it. */
export type Change = { type: "put"; kv: KeyValue } | { type: "delete"; key: string };

/**
 * Folds reads and events into pictures.
 *
 * A whole read is given key by key between `begin` and `finish`; what was there before and is not in it is gone then, so
 * a second read after a disconnect leaves the same picture as a first. Events are given in batches of whole revisions.
 */
export class Fold {
  /** What must be read for it, all at one revision. */
  readonly ranges: readonly Required<KeyRange>[];
  readonly #keys: Keys;
  readonly #queues = new Queues();
  readonly #resources = new Shelf<Kept<ResourceConfig>>();
  readonly #groups = new Shelf<Kept<readonly string[]>>();
  readonly #drains = new Shelf<Drain>();
  readonly #hosts = new Shelf<HostRecord>();
  readonly #histories = new Shelf<readonly PastRun[]>();
  readonly #audit = new Shelf<AuditRecord>();
  readonly #schedules = new Shelf<Kept<Definition>>();
  readonly #dues = new Shelf<Kept<Due>>();
  readonly #executions = new Executions();
  readonly #outcomes = new Shelf<string>();
  readonly #workers = new Shelf<Seat>();
  readonly #strange = new Shelf<string>();
  /** `mod_revision` of every key that is in the picture. */
  readonly #known = new Map<string, bigint>();
  #unseen: Set<string> | undefined;
  /** What is shown while a read is under way: half of one is true at no revision. */
  #frozen: Picture | undefined;
  #revision = 0n;

  /** @param more  parts of other rooms, such as one queue */
  constructor(keys: Keys, rooms: readonly Room[], more: readonly Required<KeyRange>[] = []) {
    this.#keys = keys;
    this.ranges = [...rooms.map((room) => keys[room]()), ...more];
  }

  begin(): void {
    this.#frozen ??= this.picture();
    this.#unseen = new Set(this.#known.keys());
  }

  see(kv: KeyValue): void {
    this.#unseen?.delete(kv.key);
    if (this.#known.get(kv.key) !== kv.modRevision) this.#put(kv);
  }

  /** @param revision  that of the read */
  finish(revision: bigint): void {
    for (const key of this.#unseen ?? []) this.#delete(key);
    this.#unseen = undefined;
    this.#frozen = undefined;
    this.#revision = revision;
  }

  /** @param batch  every change of its revisions, in order; keys of other rooms are passed over */
  apply(batch: { revision: bigint; events: readonly Change[] }): void {
    for (const event of batch.events) {
      const key = event.type === "put" ? event.kv.key : event.key;
      if (!this.ranges.some((range) => key >= range.key && key < range.rangeEnd)) continue;
      if (event.type === "delete") this.#delete(key);
      else this.see(event.kv); // what was read already is told again by a watch that starts there
    }
    this.#revision = batch.revision;
  }

  picture(): Picture {
    if (this.#frozen !== undefined) return this.#frozen;
    return {
      revision: this.#revision,
      queues: this.#queues.all(),
      resources: this.#resources.all(),
      groups: this.#groups.all(),
      drains: this.#drains.all(),
      hosts: this.#hosts.all(),
      histories: this.#histories.all(),
      audit: this.#audit.all(),
      schedules: this.#schedules.all(),
      dues: this.#dues.all(),
      executions: this.#executions.all(),
      outcomes: this.#outcomes.all(),
      workers: this.#workers.all(),
      strange: this.#strange.all(),
    };
  }

  #put(kv: KeyValue): void {
    this.#known.set(kv.key, kv.modRevision);
    this.#strange.delete(kv.key);
    const at = this.#keys.queueAt(kv.key);
    if (at !== undefined) this.#queues.put(at, placeOf(kv));
    else if (!this.#shelve(kv)) this.#strange.put(kv.key, "not a key or a value of signalbox");
  }

  /** @returns false where the key or its value is none of ours */
  #shelve(kv: KeyValue): boolean {
    const { key, value, modRevision, session } = kv;
    const parsed = this.#keys.parse(key);
    switch (parsed.kind) {
      case "resourceConfig":
        return this.#resources.put(parsed.name, { modRevision, ...parseResource(value) });
      case "group":
        return this.#groups.put(parsed.name, { modRevision, ...checkedMembers(value) });
      case "host":
        return this.#hosts.put(parsed.name, parseHost(parsed.name, value));
      case "history":
        return this.#histories.put(parsed.name, pastRuns(value));
      case "drain":
        return this.#drains.put(key, drainOf(this.#keys, kv));
      case "audit":
        return this.#audit.put(parsed.name, auditOf(parsed.name, value));
      case "schedule":
        return this.#schedules.put(parsed.name, { modRevision, ...parseDefinition(value) });
      case "due":
        return this.#dues.put(parsed.name, { modRevision, ...parseDue(value) });
      case "running":
        return this.#executions.put(parsed.name, kv);
      case "outcomes":
        return this.#outcomes.put(parsed.name, value);
      case "worker":
        return this.#workers.put(parsed.name, { modRevision, session, ...parseWorker(value) });
      default:
        return false;
    }
  }

  #delete(key: string): void {
    this.#known.delete(key);
    this.#strange.delete(key);
    const at = this.#keys.queueAt(key);
    if (at !== undefined) this.#queues.delete(at, key);
    else this.#unshelve(key);
  }

  #unshelve(key: string): void {
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "resourceConfig") this.#resources.delete(parsed.name);
    if (parsed.kind === "group") this.#groups.delete(parsed.name);
    if (parsed.kind === "host") this.#hosts.delete(parsed.name);
    if (parsed.kind === "history") this.#histories.delete(parsed.name);
    if (parsed.kind === "drain") this.#drains.delete(key);
    if (parsed.kind === "audit") this.#audit.delete(parsed.name);
    if (parsed.kind === "schedule") this.#schedules.delete(parsed.name);
    if (parsed.kind === "due") this.#dues.delete(parsed.name);
    if (parsed.kind === "running") this.#executions.delete(parsed.name, key);
    if (parsed.kind === "outcomes") this.#outcomes.delete(parsed.name);
    if (parsed.kind === "worker") this.#workers.delete(parsed.name);
  }
}
