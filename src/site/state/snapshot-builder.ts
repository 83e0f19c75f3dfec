import type { ParseResult } from "../../core/base/text.ts";
import { parseGroupMembers, parseGroupSource } from "../../core/fleet/groups.ts";
import { parseHostRecord } from "../../core/fleet/host-record.ts";
import { parseResourceConfig } from "../../core/fleet/resources.ts";
import { parseAgentReport, parseAgentSession } from "../../core/protocol/agent-record.ts";
import { parseAuditRecord } from "../../core/protocol/audit.ts";
import { parseDrain } from "../../core/protocol/drain.ts";
import { FollowedKeys } from "../../core/protocol/followed-keys.ts";
import { parsePastRuns } from "../../core/protocol/history.ts";
import type { Keys, ParsedKey, QueueKind } from "../../core/protocol/keys.ts";
import {
  compareByClaim,
  dropAccompaniedMarks,
  isMark,
  type QueueEntry,
  toQueueEntry,
} from "../../core/protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../core/protocol/txn.ts";
import { parseCalendar } from "../../schedule/calendar/calendar.ts";
import { parseDefinition } from "../../schedule/definition.ts";
import { parseDue } from "../../schedule/state/due.ts";
import { mergeHostStates, mergeOutcomes, type ShownDue } from "../../schedule/state/host-states.ts";
import { type OutcomeHistory, parseOutcomes } from "../../schedule/state/outcome.ts";
import { parseRunning, parseWorker } from "../../schedule/state/running-record.ts";
import { EntryCompactor, EntryRevisions } from "./compact-entry.ts";
import {
  buildQueueId,
  type Collection,
  type Execution,
  type NamedQueue,
  type Snapshot,
  type StoredValue,
} from "./snapshot.ts";

/** A copy-on-write map: values change one at a time, and `getAll` returns an immutable copy. */
export class CowMap<T> {
  readonly #things = new Map<string, T>();
  #given: ReadonlyMap<string, T> | undefined;

  get(name: string): T | undefined {
    return this.#things.get(name);
  }

  /** Sets a value. @param thing  undefined deletes the name. @returns whether the name has a value now */
  put(name: string, thing: T | undefined): boolean {
    if (thing === undefined) this.delete(name);
    else this.#things.set(name, thing);
    this.#given = undefined;
    return thing !== undefined;
  }

  delete(name: string): void {
    if (this.#things.delete(name)) this.#given = undefined;
  }

  /** Returns all current values. Returns the same map until a value changes. */
  getAll(): ReadonlyMap<string, T> {
    this.#given ??= new Map(this.#things);
    return this.#given;
  }
}

/** The values of schedules, each in one key, or in one for each host. */
class SplitValues<T> {
  readonly #values: CowMap<T>;
  readonly #merge: (own: T | undefined, hosts: ReadonlyMap<string, T>) => T;
  /** The parts of those that have a key for a host. */
  readonly #split = new Map<string, { own: T | undefined; hosts: ReadonlyMap<string, T> }>();

  constructor(values: CowMap<T>, merge: (own: T | undefined, hosts: ReadonlyMap<string, T>) => T) {
    this.#values = values;
    this.#merge = merge;
  }

  /** @param value  undefined deletes the part */
  set(name: string, host: string | undefined, value: T | undefined): void {
    const known = this.#split.get(name);
    let own = known === undefined ? this.#values.get(name) : known.own;
    const hosts = new Map(known?.hosts);
    if (host === undefined) own = value;
    else if (value === undefined) hosts.delete(host);
    else hosts.set(host, value);
    if (hosts.size > 0) this.#split.set(name, { own, hosts });
    else this.#split.delete(name);
    this.#values.put(name, hosts.size === 0 ? own : this.#merge(own, hosts));
  }
}

function mergeDues(
  own: StoredValue<ShownDue> | undefined,
  hosts: ReadonlyMap<string, StoredValue<ShownDue>>,
): StoredValue<ShownDue> {
  const all = [...hosts.values(), ...(own === undefined ? [] : [own])];
  const modRevision = all.reduce((newest, one) => (one.modRevision > newest ? one.modRevision : newest), 0n);
  const [bad] = [...hosts].filter(([, { fault }]) => fault !== undefined);
  if (bad !== undefined) return { modRevision, fault: `that of ${bad[0]}: ${bad[1].fault}` };
  const states = new Map([...hosts].flatMap(([host, { value }]) => (value ? [[host, value] as const] : [])));
  return { modRevision, value: mergeHostStates(own?.value, states) };
}

/** Compares by token, then by key: all keys of one transaction have the same token. */
function compareByToken(a: Execution, b: Execution): number {
  if (a.token !== b.token) return a.token < b.token ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

interface QueueId {
  kind: QueueKind;
  name: string;
}

/** Changes of a queue, in order: an entry that was put, or the key of one that was deleted. */
type EntryChanges = (QueueEntry | string)[];

interface QueueChanges {
  at: QueueId;
  list: EntryChanges;
}

/**
 * Queue entries by queue. `getAll` merges the changes into each changed queue once, for any number of changes since the last call.
 * Nothing but the sorted entries is kept: a map of each queue's keys would need more memory than the entries.
 */
export class QueueIndex {
  readonly #queues = new CowMap<NamedQueue>();
  readonly #changes = new Map<string, QueueChanges>();
  /** Those of the last key: in a read, the keys of a queue follow each other. */
  #latest: QueueChanges | undefined;
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
    this.#latest = undefined;
    return this.#queues.getAll();
  }

  #listChanges(at: QueueId): EntryChanges {
    if (this.#latest?.at.name === at.name && this.#latest.at.kind === at.kind) return this.#latest.list;
    const id = buildQueueId(at.kind, at.name);
    this.#latest = this.#changes.get(id) ?? { at, list: [] };
    this.#changes.set(id, this.#latest);
    return this.#latest.list;
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

/** A map of the snapshot whose values depend on one key each. */
type SingleKeyMap = Exclude<keyof Snapshot, "revision" | "queues" | "executions">;
type ValueOf<M extends SingleKeyMap> = Snapshot[M] extends ReadonlyMap<string, infer T> ? T : never;
type NamedKey = Extract<ParsedKey, { name: string }>;

/** The map in which a kind of key is, under its name or the whole key, and how its value is parsed. */
interface StoredKind {
  map: SingleKeyMap;
  by: "name" | "key";
  /** @returns undefined if the key or its value is not from signalbox */
  parse: (kv: KeyValue, parsed: NamedKey, keys: Keys) => unknown;
}

function createKind<M extends SingleKeyMap>(
  map: M,
  by: StoredKind["by"],
  parse: (kv: KeyValue, parsed: NamedKey, keys: Keys) => ValueOf<M> | undefined,
): StoredKind {
  return { map, by, parse };
}

/** Adds the revision to a value that operators change, for guards against other changes. */
function createRevisedParser<T>(parse: (text: string) => ParseResult<T>) {
  return ({ value, modRevision }: KeyValue): StoredValue<T> => ({ modRevision, ...parse(value) });
}

const KINDS: Readonly<Partial<Record<ParsedKey["kind"], StoredKind>>> = {
  resourceConfig: createKind("resources", "name", createRevisedParser(parseResourceConfig)),
  group: createKind("groups", "name", ({ value, modRevision }) => {
    const source = parseGroupSource(value);
    return { modRevision, ...parseGroupMembers(value), ...(source !== undefined && { source }) };
  }),
  calendar: createKind("calendars", "name", createRevisedParser(parseCalendar)),
  schedule: createKind("schedules", "name", createRevisedParser(parseDefinition)),
  worker: createKind("workers", "name", ({ value, modRevision, session }) => ({
    modRevision,
    session,
    ...parseWorker(value),
  })),
  host: createKind("hosts", "name", ({ value }, { name }) => parseHostRecord(name, value)),
  history: createKind("histories", "name", ({ value }) => parsePastRuns(value)),
  audit: createKind("audit", "name", ({ value }, { name }) => parseAuditRecord(name, value)),
  drain: createKind("drains", "key", (kv, _, keys) => parseDrain(keys, kv)),
  agentSession: createKind("agentSessions", "key", ({ value, session }, { name: host }) => {
    const record = parseAgentSession(value);
    return record && { ...record, host, session };
  }),
  agentReport: createKind("agentReports", "key", ({ value }, parsed) => {
    if (parsed.kind !== "agentReport") return undefined;
    const report = parseAgentReport(value);
    return report && { ...report, host: parsed.name, agent: parsed.agent };
  }),
};

const OTHER_MAPS = ["dues", "outcomes", "strange"] as const;
const MAPS = [...new Set(Object.values(KINDS).map(({ map }) => map)), ...OTHER_MAPS];

/** Builds snapshots from reads and watch events. */
export class SnapshotBuilder extends FollowedKeys {
  readonly ranges: readonly Required<KeyRange>[];
  readonly #keys: Keys;
  readonly #queues = new QueueIndex();
  readonly #compactor = new EntryCompactor();
  readonly #entries: EntryRevisions;
  /** Each list is immutable: a change replaces it. */
  readonly #executions = new CowMap<readonly Execution[]>();
  readonly #maps = new Map(MAPS.map((map) => [map, new CowMap<unknown>()]));
  readonly #dues = new SplitValues(this.#getMap("dues") as CowMap<StoredValue<ShownDue>>, mergeDues);
  readonly #outcomes = new SplitValues(this.#getMap("outcomes") as CowMap<OutcomeHistory>, (own, hosts) =>
    mergeOutcomes([...(own === undefined ? [] : [own]), ...hosts.values()]),
  );
  /** The snapshot to return during a read: a partial read is not consistent at any revision. */
  #frozen: Snapshot | undefined;
  #last: Snapshot | undefined;
  /** The queue of the last key of a read: its other keys may follow. */
  #unfinished: QueueId | undefined;

  /** @param more  further key ranges, for example one queue */
  constructor(keys: Keys, collections: readonly Collection[], more: readonly Required<KeyRange>[] = []) {
    const entries = new EntryRevisions();
    super(entries);
    this.#entries = entries;
    this.#keys = keys;
    this.ranges = [...collections.map((collection) => keys[collection]()), ...more];
  }

  override begin(): void {
    this.#frozen ??= this.getSnapshot();
    super.begin();
  }

  override finish(revision: bigint): void {
    super.finish(revision);
    this.#frozen = undefined;
  }

  /** Returns the same snapshot until something changes. */
  getSnapshot(): Snapshot {
    if (this.#frozen !== undefined) return this.#frozen;
    const next = this.#buildSnapshot();
    const last = this.#last ?? next;
    const isSame = (Object.keys(next) as (keyof Snapshot)[]).every((part) => next[part] === last[part]);
    this.#last = isSame ? last : next;
    return this.#last;
  }

  /**
   * Returns what the first read has brought so far, with revision 0. Each of its queues is complete. Returns the same as
   * `getSnapshot` after the first read.
   */
  getPartialSnapshot(): Snapshot {
    if (!this.isReading || this.revision > 0n) return this.getSnapshot();
    const partial = this.#buildSnapshot();
    const queues = new Map(partial.queues);
    if (this.#unfinished !== undefined)
      queues.delete(buildQueueId(this.#unfinished.kind, this.#unfinished.name));
    return { ...partial, queues };
  }

  #buildSnapshot(): Snapshot {
    const maps = Object.fromEntries([...this.#maps].map(([map, values]) => [map, values.getAll()]));
    return {
      ...(maps as unknown as Pick<Snapshot, SingleKeyMap>), // `createKind` has checked the values
      revision: this.revision,
      queues: this.#queues.getAll(),
      executions: this.#executions.getAll(),
    };
  }

  protected override storeKey(kv: KeyValue): void {
    this.#strange.delete(kv.key);
    const at = this.#keys.parseQueueKey(kv.key);
    this.#unfinished = at;
    if (at !== undefined) this.#storeEntry(at, kv);
    else if (!this.#store(kv)) this.#strange.put(kv.key, "not a key or a value of signalbox");
  }

  #storeEntry(at: QueueId, kv: KeyValue): void {
    const entry = this.#compactor.compact(toQueueEntry(kv));
    this.#entries.setEntry(entry);
    this.#queues.put(at, entry);
  }

  get #strange(): CowMap<unknown> {
    return this.#getMap("strange");
  }

  #getMap(map: SingleKeyMap): CowMap<unknown> {
    return this.#maps.get(map) as CowMap<unknown>;
  }

  /** Stores a parsed value. @returns false if the key or its value is not from signalbox */
  #store(kv: KeyValue): boolean {
    const parsed = this.#keys.parse(kv.key);
    if (parsed.kind === "unknown") return false;
    if (parsed.kind === "running") {
      // Also an unreadable value is an execution, because the key blocks the schedule.
      const { key, value, modRevision, createRevision: token, session } = kv;
      const one = { modRevision, key, id: parsed.name, token, session, ...parseRunning(value) };
      const all = [...this.#listOtherExecutions(parsed.name, key), one].sort(compareByToken);
      return this.#executions.put(parsed.name, all);
    }
    if (parsed.kind === "due") {
      this.#dues.set(parsed.name, parsed.host, { modRevision: kv.modRevision, ...parseDue(kv.value) });
      return true;
    }
    if (parsed.kind === "outcomes") {
      this.#outcomes.set(parsed.name, parsed.host, parseOutcomes(kv.value));
      return true;
    }
    if (parsed.kind === "outputRequest" || parsed.kind === "outputChunk") return true; // on their way to a viewer
    const kind = KINDS[parsed.kind];
    if (kind === undefined) return false;
    return this.#getMap(kind.map).put(
      kind.by === "key" ? kv.key : parsed.name,
      kind.parse(kv, parsed, this.#keys),
    );
  }

  #listOtherExecutions(id: string, key: string): Execution[] {
    return (this.#executions.get(id) ?? []).filter((one) => one.key !== key);
  }

  protected override removeKey(key: string): void {
    this.#strange.delete(key);
    const at = this.#keys.parseQueueKey(key);
    if (at !== undefined) return this.#queues.delete(at, key);
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "running") {
      const others = this.#listOtherExecutions(parsed.name, key);
      this.#executions.put(parsed.name, others.length === 0 ? undefined : others);
    }
    if (parsed.kind === "due") this.#dues.set(parsed.name, parsed.host, undefined);
    if (parsed.kind === "outcomes") this.#outcomes.set(parsed.name, parsed.host, undefined);
    const kind = KINDS[parsed.kind];
    if (kind !== undefined && parsed.kind !== "unknown")
      this.#getMap(kind.map).delete(kind.by === "key" ? key : parsed.name);
  }
}
