import type { HostRecord } from "../fleet/host-record.ts";
import type { ResourceConfig } from "../fleet/resources.ts";
import type { AuditRecord } from "../protocol/audit.ts";
import type { Drain } from "../protocol/drain.ts";
import type { PastRun } from "../protocol/history.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Queue } from "../protocol/ticket.ts";
import type { Definition } from "../schedule/definition.ts";
import type { Due } from "../schedule/due.ts";
import type { Running } from "../schedule/running.ts";
import type { WorkerRecord } from "../schedule/worker-record.ts";

/** One lock or resource with everybody who stands in its queue, in the order of claims. Never empty. */
export interface NamedQueue {
  readonly kind: QueueKind;
  readonly name: string;
  readonly places: Queue;
}

/** What operators keep under a name, or why it cannot be read. */
export type Kept<T> = { readonly modRevision: bigint } & (
  | { readonly value: T; readonly fault?: undefined }
  | { readonly fault: string; readonly value?: undefined }
);

/** Somebody who runs an occurrence of a schedule, or a key that cannot be read and is in its way all the same. */
export type Execution = Kept<Running> & {
  readonly key: string;
  /** The schedule's id. */
  readonly id: string;
  /** The fencing token: the key's `create_revision`. */
  readonly token: bigint;
  readonly session: bigint;
};

/** A worker's word on its session. */
export type Seat = Kept<WorkerRecord> & { readonly session: bigint };

/**
 * What stands in etcd at one revision, sorted into rooms. Immutable: what did not change is shared with the picture
 * before. Rooms that were not read are empty.
 */
export interface Picture {
  readonly revision: bigint;
  /** By `queueId`. */
  readonly queues: ReadonlyMap<string, NamedQueue>;
  /** By name, as are those below where nothing else is said. */
  readonly resources: ReadonlyMap<string, Kept<ResourceConfig>>;
  readonly groups: ReadonlyMap<string, Kept<readonly string[]>>;
  /** By key. */
  readonly drains: ReadonlyMap<string, Drain>;
  readonly hosts: ReadonlyMap<string, HostRecord>;
  /** Finished runs by lock, newest first. */
  readonly histories: ReadonlyMap<string, readonly PastRun[]>;
  /** By id. */
  readonly audit: ReadonlyMap<string, AuditRecord>;
  /** Definitions of schedules by id, as are the three below. */
  readonly schedules: ReadonlyMap<string, Kept<Definition>>;
  readonly dues: ReadonlyMap<string, Kept<Due>>;
  /** What runs now, the oldest first. */
  readonly executions: ReadonlyMap<string, readonly Execution[]>;
  /** What schedules remember, as it stands in etcd: it weighs, and is of interest for one at a time. */
  readonly outcomes: ReadonlyMap<string, string>;
  /** By the worker's id. */
  readonly workers: ReadonlyMap<string, Seat>;
  /** Keys in the rooms that were read which are none of ours, and what is wrong with them. */
  readonly strange: ReadonlyMap<string, string>;
}

/** The rooms that a picture can be made of. What schedules remember is none: it is read of one at a time. */
export const ROOMS = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
  "histories",
  "audits",
  "schedules",
  "dues",
  "runnings",
  "workers",
] as const;
export type Room = (typeof ROOMS)[number];

/** How a queue is found in a picture. */
export function queueId(kind: QueueKind, name: string): string {
  return `${kind}/${name}`;
}

/** The queue of a lock or resource; undefined when nobody stands in it. */
export function queueIn(picture: Picture, kind: QueueKind, name: string): NamedQueue | undefined {
  return picture.queues.get(queueId(kind, name));
}

/** Groups by name with their members; a malformed one has none. */
export function membersOf(picture: Pick<Picture, "groups">): Map<string, readonly string[]> {
  return new Map([...picture.groups].map(([name, { value }]) => [name, value ?? []]));
}
