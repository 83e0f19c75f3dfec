import type { HostRecord } from "../fleet/host-record.ts";
import type { ResourceConfig } from "../fleet/resources.ts";
import type { AuditRecord } from "../protocol/audit.ts";
import type { Drain } from "../protocol/drain.ts";
import type { PastRun } from "../protocol/history.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Queue } from "../protocol/ticket.ts";

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
  /** Keys in the rooms that were read which are none of ours, and what is wrong with them. */
  readonly strange: ReadonlyMap<string, string>;
}

/** The rooms that a picture can be made of. */
export const ROOMS = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
  "histories",
  "audits",
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
