import { parseGroupMembers } from "../../fleet/groups.ts";
import { type HostRecord, parseHostRecord } from "../../fleet/host-record.ts";
import { parseResourceConfig, type ResourceConfig } from "../../fleet/resources.ts";
import { type AuditRecord, parseAuditRecord } from "../../protocol/audit.ts";
import { type Drain, parseDrain } from "../../protocol/drain.ts";
import { type PastRun, parsePastRuns } from "../../protocol/history.ts";
import type { Keys } from "../../protocol/keys.ts";
import { toQueueEntry } from "../../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import { type Definition, parseDefinition } from "../../schedule/definition.ts";
import { type DueState, parseDue } from "../../schedule/state/due.ts";
import { parseWorker } from "../../schedule/state/worker-record.ts";
import { CowMap } from "./cow-map.ts";
import { ExecutionIndex } from "./execution-index.ts";
import { QueueIndex } from "./queue-index.ts";
import type { Collection, Snapshot, StoredValue, StoredWorker } from "./snapshot.ts";

/** A change as delivered by a watch. */
type WatchChange = { type: "put"; kv: KeyValue } | { type: "delete"; key: string };

/**
 * Builds snapshots from reads and watch events.
 *
 * Call `begin`, then `add` for each key of a complete read, then `finish`. `finish` deletes keys that were not part of
 * the read, so a read after a disconnect has the same result as a first read. Pass events to `apply` in batches of
 * complete revisions.
 */
export class SnapshotBuilder {
  /** The key ranges to read, all at one revision. */
  readonly ranges: readonly Required<KeyRange>[];
  readonly #keys: Keys;
  readonly #queues = new QueueIndex();
  readonly #resources = new CowMap<StoredValue<ResourceConfig>>();
  readonly #groups = new CowMap<StoredValue<readonly string[]>>();
  readonly #drains = new CowMap<Drain>();
  readonly #hosts = new CowMap<HostRecord>();
  readonly #histories = new CowMap<readonly PastRun[]>();
  readonly #audit = new CowMap<AuditRecord>();
  readonly #schedules = new CowMap<StoredValue<Definition>>();
  readonly #dues = new CowMap<StoredValue<DueState>>();
  readonly #executions = new ExecutionIndex();
  readonly #outcomes = new CowMap<string>();
  readonly #workers = new CowMap<StoredWorker>();
  readonly #strange = new CowMap<string>();
  /** `mod_revision` of every key in the snapshot. */
  readonly #known = new Map<string, bigint>();
  #unseen: Set<string> | undefined;
  /** The snapshot to return during a read: a partial read is not consistent at any revision. */
  #frozen: Snapshot | undefined;
  #revision = 0n;

  /** @param more  further key ranges, for example one queue */
  constructor(keys: Keys, collections: readonly Collection[], more: readonly Required<KeyRange>[] = []) {
    this.#keys = keys;
    this.ranges = [...collections.map((collection) => keys[collection]()), ...more];
  }

  begin(): void {
    this.#frozen ??= this.getSnapshot();
    this.#unseen = new Set(this.#known.keys());
  }

  add(kv: KeyValue): void {
    this.#unseen?.delete(kv.key);
    if (this.#known.get(kv.key) !== kv.modRevision) this.#put(kv);
  }

  /** Ends a read. @param revision  revision of the read */
  finish(revision: bigint): void {
    for (const key of this.#unseen ?? []) this.#delete(key);
    this.#unseen = undefined;
    this.#frozen = undefined;
    this.#revision = revision;
  }

  /** Applies watch events. @param batch  all changes of its revisions, in order; keys outside the ranges are ignored */
  apply(batch: { revision: bigint; events: readonly WatchChange[] }): void {
    for (const event of batch.events) {
      const key = event.type === "put" ? event.kv.key : event.key;
      if (!this.ranges.some((range) => key >= range.key && key < range.rangeEnd)) continue;
      if (event.type === "delete") this.#delete(key);
      else this.add(event.kv); // a watch repeats changes that the read included
    }
    this.#revision = batch.revision;
  }

  getSnapshot(): Snapshot {
    if (this.#frozen !== undefined) return this.#frozen;
    return {
      revision: this.#revision,
      queues: this.#queues.getAll(),
      resources: this.#resources.getAll(),
      groups: this.#groups.getAll(),
      drains: this.#drains.getAll(),
      hosts: this.#hosts.getAll(),
      histories: this.#histories.getAll(),
      audit: this.#audit.getAll(),
      schedules: this.#schedules.getAll(),
      dues: this.#dues.getAll(),
      executions: this.#executions.getAll(),
      outcomes: this.#outcomes.getAll(),
      workers: this.#workers.getAll(),
      strange: this.#strange.getAll(),
    };
  }

  #put(kv: KeyValue): void {
    this.#known.set(kv.key, kv.modRevision);
    this.#strange.delete(kv.key);
    const at = this.#keys.parseQueueKey(kv.key);
    if (at !== undefined) this.#queues.put(at, toQueueEntry(kv));
    else if (!this.#store(kv)) this.#strange.put(kv.key, "not a key or a value of signalbox");
  }

  /** Stores a parsed value. @returns false if the key or its value is not from signalbox */
  #store(kv: KeyValue): boolean {
    const { key, value, modRevision, session } = kv;
    const parsed = this.#keys.parse(key);
    switch (parsed.kind) {
      case "resourceConfig":
        return this.#resources.put(parsed.name, { modRevision, ...parseResourceConfig(value) });
      case "group":
        return this.#groups.put(parsed.name, { modRevision, ...parseGroupMembers(value) });
      case "host":
        return this.#hosts.put(parsed.name, parseHostRecord(parsed.name, value));
      case "history":
        return this.#histories.put(parsed.name, parsePastRuns(value));
      case "drain":
        return this.#drains.put(key, parseDrain(this.#keys, kv));
      case "audit":
        return this.#audit.put(parsed.name, parseAuditRecord(parsed.name, value));
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
    const at = this.#keys.parseQueueKey(key);
    if (at !== undefined) this.#queues.delete(at, key);
    else this.#remove(key);
  }

  #remove(key: string): void {
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
