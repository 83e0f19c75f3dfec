import type { Finding } from "../../core/base/finding.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import type { AgentReport, AgentSessionRecord } from "../../core/protocol/agent-record.ts";
import type { AuditRecord } from "../../core/protocol/audit.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { Queue } from "../../core/protocol/ticket.ts";
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

/**
 * Lists what is in one map, but not as the same object in another one, and the other way round. What has the same order in both is not looked
 * up: ten thousand look-ups take ten milliseconds.
 */
export function compareMaps<T extends object>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): { gone: [string, T][]; come: [string, T][] } {
  const [gone, come]: [[string, T][], [string, T][]] = [[], []];
  const rest = before.entries();
  let old = rest.next().value;
  const isGone = ([name, value]: [string, T]) => after.get(name) !== value;
  for (const entry of after) {
    const [name, value] = entry;
    for (; old !== undefined && old[1] !== value && isGone(old); old = rest.next().value) gone.push(old);
    if (old?.[1] === value) old = rest.next().value;
    else if (before.get(name) !== value) come.push(entry);
  }
  for (; old !== undefined; old = rest.next().value) if (isGone(old)) gone.push(old);
  return { gone, come };
}

/** Returns the members of each group by its name. A malformed group has no members. */
export function buildGroupMembers(snapshot: Pick<Snapshot, "groups">): Map<string, readonly string[]> {
  return new Map([...snapshot.groups].map(([name, { value }]) => [name, value ?? []]));
}
