import { parseGroupMembers } from "../fleet/groups.ts";
import { type HostRecord, parseHostRecord } from "../fleet/host-record.ts";
import { parseResourceConfig, type ResourceConfig } from "../fleet/resources.ts";
import { parseAgentReport, parseAgentSession } from "../protocol/agent-record.ts";
import { type AuditRecord, parseAuditRecord } from "../protocol/audit.ts";
import { type Drain, parseDrain } from "../protocol/drain.ts";
import { FollowedKeys } from "../protocol/followed-keys.ts";
import { type PastRun, parsePastRuns } from "../protocol/history.ts";
import type { Keys, ParsedKey, QueueKind } from "../protocol/keys.ts";
import {
  compareByClaim,
  dropAccompaniedMarks,
  isMark,
  type QueueEntry,
  type Ticket,
  toQueueEntry,
} from "../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";
import { type Calendar, parseCalendar } from "../schedule/calendar/calendar.ts";
import { type Definition, parseDefinition } from "../schedule/definition.ts";
import { type DueState, parseDue } from "../schedule/state/due.ts";
import { parseRunning } from "../schedule/state/running-record.ts";
import { parseWorker } from "../schedule/state/worker-record.ts";
import {
  buildQueueId,
  type Collection,
  type Execution,
  type NamedQueue,
  type Snapshot,
  type StoredAgentReport,
  type StoredAgentSession,
  type StoredValue,
  type StoredWorker,
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

/** The executions of each schedule. Lists are immutable: a change replaces the list. */
class ExecutionIndex {
  readonly #lists = new Map<string, readonly Execution[]>();
  #given: ReadonlyMap<string, readonly Execution[]> | undefined;

  /** Adds or replaces an execution. @returns true, also for an unreadable value, because the key blocks the schedule */
  put(id: string, { key, value, modRevision, createRevision: token, session }: KeyValue): true {
    const one = { modRevision, key, id, token, session, ...parseRunning(value) };
    const others = this.#listOthers(id, key);
    this.#lists.set(id, [...others, one].sort(compareByToken));
    this.#given = undefined;
    return true;
  }

  delete(id: string, key: string): void {
    const others = this.#listOthers(id, key);
    if (others.length === 0) this.#lists.delete(id);
    else this.#lists.set(id, others);
    this.#given = undefined;
  }

  /** Returns all executions by schedule id. Returns the same map until an execution changes. */
  getAll(): ReadonlyMap<string, readonly Execution[]> {
    this.#given ??= new Map(this.#lists);
    return this.#given;
  }

  #listOthers(id: string, key: string): readonly Execution[] {
    return (this.#lists.get(id) ?? []).filter((one) => one.key !== key);
  }
}

/** Compares by token, then by key: all keys of one transaction have the same token. */
function compareByToken(a: Execution, b: Execution): number {
  if (a.token !== b.token) return a.token < b.token ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** More different values than this are not remembered: a client may write any. */
const MOST = 20_000;

/**
 * Stores equal values of tickets once. Each parsed ticket has its own copies, and a hundred thousand tickets of a few hosts and
 * commands would need twice the memory.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #sessions = new Map<bigint, bigint>();

  /** Replaces the values of an entry that many entries, or several fields, have in common. */
  share(entry: QueueEntry): QueueEntry {
    const { key, run, ticket, createRevision, modRevision } = entry;
    if (ticket !== undefined) this.#shareFields(ticket);
    const shared: QueueEntry = {
      key,
      ticket,
      createRevision,
      // The id from the key is a part of its text, with a header of its own.
      run: run === ticket?.run ? ticket.run : run,
      modRevision: modRevision === createRevision ? createRevision : modRevision,
      session: find(this.#sessions, entry.session),
    };
    if (entry.vanished !== undefined) shared.vanished = entry.vanished;
    return shared;
  }

  #shareFields(ticket: Ticket): void {
    ticket.host = find(this.#texts, ticket.host);
    ticket.user = find(this.#texts, ticket.user);
    ticket.command = find(this.#texts, ticket.command);
    ticket.state = find(this.#texts, ticket.state) as Ticket["state"];
  }
}

/** Returns the known value that equals this one, and remembers it. */
function find<T>(known: Map<T, T>, value: T): T {
  const shared = known.get(value);
  if (shared !== undefined) return shared;
  if (known.size >= MOST) known.clear();
  known.set(value, value);
  return value;
}

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

/** Builds snapshots from reads and watch events. */
export class SnapshotBuilder extends FollowedKeys {
  readonly ranges: readonly Required<KeyRange>[];
  readonly #keys: Keys;
  readonly #queues = new QueueIndex();
  readonly #shared = new SharedValues();
  readonly #resources = new CowMap<StoredValue<ResourceConfig>>();
  readonly #groups = new CowMap<StoredValue<readonly string[]>>();
  readonly #calendars = new CowMap<StoredValue<Calendar>>();
  readonly #drains = new CowMap<Drain>();
  readonly #hosts = new CowMap<HostRecord>();
  readonly #agentSessions = new CowMap<StoredAgentSession>();
  readonly #agentReports = new CowMap<StoredAgentReport>();
  readonly #histories = new CowMap<readonly PastRun[]>();
  readonly #audit = new CowMap<AuditRecord>();
  readonly #schedules = new CowMap<StoredValue<Definition>>();
  readonly #dues = new CowMap<StoredValue<DueState>>();
  readonly #executions = new ExecutionIndex();
  readonly #outcomes = new CowMap<string>();
  readonly #workers = new CowMap<StoredWorker>();
  readonly #strange = new CowMap<string>();
  /** The snapshot to return during a read: a partial read is not consistent at any revision. */
  #frozen: Snapshot | undefined;

  /** @param more  further key ranges, for example one queue */
  constructor(keys: Keys, collections: readonly Collection[], more: readonly Required<KeyRange>[] = []) {
    super();
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

  getSnapshot(): Snapshot {
    if (this.#frozen !== undefined) return this.#frozen;
    return {
      revision: this.revision,
      queues: this.#queues.getAll(),
      resources: this.#resources.getAll(),
      groups: this.#groups.getAll(),
      calendars: this.#calendars.getAll(),
      drains: this.#drains.getAll(),
      hosts: this.#hosts.getAll(),
      agentSessions: this.#agentSessions.getAll(),
      agentReports: this.#agentReports.getAll(),
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

  protected override storeKey(kv: KeyValue): void {
    this.#strange.delete(kv.key);
    const at = this.#keys.parseQueueKey(kv.key);
    if (at !== undefined) this.#queues.put(at, this.#shared.share(toQueueEntry(kv)));
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
      case "calendar":
        return this.#calendars.put(parsed.name, { modRevision, ...parseCalendar(value) });
      case "host":
        return this.#hosts.put(parsed.name, parseHostRecord(parsed.name, value));
      case "agentSession":
      case "agentReport":
        return this.#storeAgent(parsed, kv);
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
      case "outputRequest":
      case "outputChunk":
        return true; // on their way to a viewer
      default:
        return false;
    }
  }

  #storeAgent(
    parsed: Extract<ParsedKey, { kind: "agentSession" | "agentReport" }>,
    { key, value, session }: KeyValue,
  ): boolean {
    const host = parsed.name;
    if (parsed.kind === "agentSession") {
      const record = parseAgentSession(value);
      return this.#agentSessions.put(key, record && { ...record, host, session });
    }
    const report = parseAgentReport(value);
    return this.#agentReports.put(key, report && { ...report, host, agent: parsed.agent });
  }

  protected override removeKey(key: string): void {
    this.#strange.delete(key);
    const at = this.#keys.parseQueueKey(key);
    if (at !== undefined) this.#queues.delete(at, key);
    else this.#remove(key);
  }

  #remove(key: string): void {
    const parsed = this.#keys.parse(key);
    if (parsed.kind === "resourceConfig") this.#resources.delete(parsed.name);
    if (parsed.kind === "group") this.#groups.delete(parsed.name);
    if (parsed.kind === "calendar") this.#calendars.delete(parsed.name);
    if (parsed.kind === "host") this.#hosts.delete(parsed.name);
    if (parsed.kind === "agentSession") this.#agentSessions.delete(key);
    if (parsed.kind === "agentReport") this.#agentReports.delete(key);
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
