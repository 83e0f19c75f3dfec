import type { Finding } from "../../core/base/finding.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { AgentReport, AgentSessionRecord } from "../../core/protocol/agent-record.ts";
import type { AuditRecord } from "../../core/protocol/audit.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { Queue, QueueEntry } from "../../core/protocol/ticket.ts";
import type { Calendar } from "../../schedule/calendar/calendar.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { ShownDue } from "../../schedule/state/host-states.ts";
import type { OutcomeHistory } from "../../schedule/state/outcome.ts";
import type { RunningRecord, WorkerRecord } from "../../schedule/state/running-record.ts";

/** One lock or resource with all its queue entries, in the order of claims. Never empty. */
export interface NamedQueue {
  readonly kind: QueueKind;
  readonly name: string;
  readonly entries: Queue;
}

/** A stored value, or the reason why it cannot be read. */
export type StoredValue<T> = { readonly modRevision: bigint } & (
  | { readonly value: T; readonly fault?: undefined }
  | { readonly fault: string; readonly value?: undefined }
);

/** A group, and the source that owns it. */
type StoredGroup = StoredValue<readonly string[]> & { readonly source?: string };

/** A running occurrence of a schedule. A key that cannot be read also counts, because it blocks the schedule. */
export type Execution = StoredValue<RunningRecord> & {
  readonly key: string;
  /** The schedule's id. */
  readonly id: string;
  /** The fencing token: the key's `create_revision`. */
  readonly token: bigint;
  readonly session: bigint;
};

/** The record of a worker, with the session that it is attached to. */
export type StoredWorker = StoredValue<WorkerRecord> & { readonly session: bigint };

/** A session that an agent uses for many runs. */
interface StoredAgentSession extends AgentSessionRecord {
  readonly host: string;
  readonly session: bigint;
}

/** What an agent reports about itself. */
interface StoredAgentReport extends AgentReport {
  readonly host: string;
  readonly agent: string;
}

/**
 * The contents of etcd at one revision, by collection. Immutable: the previous snapshot shares the unchanged parts.
 * Collections that were not read are empty.
 */
export interface Snapshot {
  readonly revision: bigint;
  /** By `buildQueueId`. */
  readonly queues: ReadonlyMap<string, NamedQueue>;
  /** By name, as the following maps unless noted otherwise. */
  readonly resources: ReadonlyMap<string, StoredValue<ResourceConfig>>;
  readonly groups: ReadonlyMap<string, StoredGroup>;
  readonly calendars: ReadonlyMap<string, StoredValue<Calendar>>;
  /** By key. */
  readonly drains: ReadonlyMap<string, Drain>;
  readonly hosts: ReadonlyMap<string, HostRecord>;
  /** By key, as the next map. */
  readonly agentSessions: ReadonlyMap<string, StoredAgentSession>;
  readonly agentReports: ReadonlyMap<string, StoredAgentReport>;
  /** Finished runs by lock, newest first. */
  readonly histories: ReadonlyMap<string, readonly PastRun[]>;
  /** By id. */
  readonly audit: ReadonlyMap<string, AuditRecord>;
  /** Definitions of schedules by id, as the next three maps. */
  readonly schedules: ReadonlyMap<string, StoredValue<Definition>>;
  readonly dues: ReadonlyMap<string, StoredValue<ShownDue>>;
  /** Running occurrences, oldest first. */
  readonly executions: ReadonlyMap<string, readonly Execution[]>;
  /** Outcomes of schedules: they are large, and only read where they are shown. */
  readonly outcomes: ReadonlyMap<string, OutcomeHistory>;
  /** By the worker's id. */
  readonly workers: ReadonlyMap<string, StoredWorker>;
  /** Keys in the read ranges that are not from signalbox, with the reason. */
  readonly strange: ReadonlyMap<string, string>;
  /** What is wrong with etcd itself, if its members were asked. Not part of its contents. */
  readonly etcdFaults?: readonly Finding[] | undefined;
}

/**
 * The collections of a snapshot that the console follows, in the order in which they are read: first those that rows of queues
 * depend on. Outcomes are not included: they are large.
 */
export const SNAPSHOT_COLLECTIONS = [
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
  "locks",
  "resources",
  "workers",
  "calendars",
  "schedules",
  "dues",
  "runnings",
  "histories",
  "audits",
] as const;
export type Collection = (typeof SNAPSHOT_COLLECTIONS)[number] | "outcomeHistories";

/** Returns how many locks, resources, schedules and other things a snapshot contains. */
export function countThings({ revision: _, etcdFaults: __, ...collections }: Snapshot): number {
  return Object.values(collections).reduce((sum, { size }) => sum + size, 0);
}

export function buildQueueId(kind: QueueKind, name: string): string {
  return `${kind}/${name}`;
}

/** Finds the queue of a lock or resource; undefined if it is empty. */
export function findNamedQueue(snapshot: Snapshot, kind: QueueKind, name: string): NamedQueue | undefined {
  return snapshot.queues.get(buildQueueId(kind, name));
}

/** Returns the members of each group by its name. A malformed group has no members. */
export function buildGroupMembers(snapshot: Pick<Snapshot, "groups">): Map<string, readonly string[]> {
  return new Map([...snapshot.groups].map(([name, { value }]) => [name, value ?? []]));
}

/** The queue entries of a run. Most runs have one, and there may be a hundred thousand: no list is built for these. */
type RunEntries = QueueEntry | readonly QueueEntry[];

// The entries of the runs of the last snapshot. Of the next one, only the queues that have changed are read.
let known: Snapshot["queues"] = new Map();
const runs = new Map<string, QueueEntry | QueueEntry[]>();
/** The number of those runs that hold everything they claim, and of those that wait. */
const counts = { held: 0, waiting: 0 };
/** The number of tickets of each host. */
const hosts = new Map<string, number>();

/** Lists the queue entries of each run. Valid until the next call. Cheap for a snapshot that follows the one before. */
export function listEntriesByRun({ queues }: Pick<Snapshot, "queues">): Iterable<RunEntries> {
  if (queues === known) return runs.values();
  for (const [id, queue] of known) if (queues.get(id) !== queue) queue.entries.forEach(removeEntry);
  for (const [id, queue] of queues) if (known.get(id) !== queue) queue.entries.forEach(addEntry);
  known = queues;
  return runs.values();
}

/** Lists the hosts of all tickets, as the tickets name them. Valid until the next call. */
export function listTicketHosts(snapshot: Pick<Snapshot, "queues">): Iterable<string> {
  listEntriesByRun(snapshot);
  return hosts.keys();
}

function addEntry(entry: QueueEntry): void {
  changeEntries(entry, 1, putEntry);
}

function removeEntry(entry: QueueEntry): void {
  changeEntries(entry, -1, dropEntry);
}

/** Changes the entries of a run, and what is counted. Malformed tickets count as nothing. */
function changeEntries(entry: QueueEntry, by: 1 | -1, change: (entry: QueueEntry) => void): void {
  countRun(entry.run, -1);
  change(entry);
  countRun(entry.run, 1);
  const { host } = entry.ticket ?? {};
  if (host === undefined) return;
  const count = (hosts.get(host) ?? 0) + by;
  if (count === 0) hosts.delete(host);
  else hosts.set(host, count);
}

function countRun(run: string, by: 1 | -1): void {
  const entries = runs.get(run);
  if (entries === undefined) return;
  const all = Array.isArray(entries) ? entries : [entries];
  if (all.some(({ ticket }) => ticket !== undefined)) counts[all.every(isHolding) ? "held" : "waiting"] += by;
}

function putEntry(entry: QueueEntry): void {
  const others = runs.get(entry.run);
  if (others === undefined) runs.set(entry.run, entry);
  else if (Array.isArray(others)) others.push(entry);
  else runs.set(entry.run, [others, entry]);
}

function dropEntry(entry: QueueEntry): void {
  const all = runs.get(entry.run);
  if (!Array.isArray(all)) {
    if (all === entry) runs.delete(entry.run);
    return;
  }
  const [first, ...others] = all.filter((one) => one !== entry);
  if (first === undefined) runs.delete(entry.run);
  else runs.set(entry.run, others.length === 0 ? first : [first, ...others]);
}

/** Counts the runs that hold everything they claim, and the runs that wait. Cheap for a snapshot that follows the one before. */
export function countRuns(snapshot: Snapshot): { held: number; waiting: number } {
  listEntriesByRun(snapshot);
  return { ...counts };
}
