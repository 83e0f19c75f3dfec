import { holds } from "../protocol/admission.ts";
import type { Keys } from "../protocol/keys.ts";
import { type Place, type placeOf, queueOf } from "../protocol/ticket.ts";
import type { KeyValue } from "../protocol/txn.ts";

/** One lock or resource that somebody holds or waits for. */
export interface QueueRow {
  kind: "lock" | "resource";
  name: string;
  state: "held" | "grace" | "waiting" | "malformed";
  /** Runs that hold it, the oldest first. */
  holders: Occupant[];
  waiters: Occupant[];
  /** Units held, and what there are as the first ticket states it. */
  used: number;
  total: number | undefined;
}

/** A run in a queue. Wall clocks in ms since the epoch. */
export interface Occupant {
  run: string;
  host: string | undefined;
  pid: number | undefined;
  count: number | undefined;
  since: number | undefined;
  isMalformed: boolean;
}

/** Folds tickets into rows, locks first, by name. Keys that stand in no queue are left out. */
export function listing(keys: Keys, kvs: readonly KeyValue[]): QueueRow[] {
  const queues = new Map<string, { kind: "lock" | "resource"; name: string; kvs: KeyValue[] }>();
  for (const kv of kvs) {
    const at = keys.queueAt(kv.key);
    if (at === undefined) continue;
    const { kind, name } = at;
    const id = `${kind}/${name}`;
    const queue = queues.get(id) ?? { kind, name, kvs: [] };
    queue.kvs.push(kv);
    queues.set(id, queue);
  }
  const rows = [...queues.values()].map(rowOf);
  return rows.sort((a, b) => (a.kind === b.kind ? (a.name < b.name ? -1 : 1) : a.kind < b.kind ? -1 : 1));
}

function rowOf({ kind, name, kvs }: { kind: "lock" | "resource"; name: string; kvs: KeyValue[] }): QueueRow {
  const queue = queueOf(kvs);
  const holders = queue.filter(holds);
  const [first] = queue;
  const state =
    first?.ticket === undefined ? "malformed" : holders.length === 0 ? "waiting" : stateOf(holders);
  return {
    ...{ kind, name, state },
    holders: holders.map(occupant),
    waiters: queue.filter((place) => !holds(place)).map(occupant),
    used: holders.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0),
    total: first?.ticket?.total,
  };
}

function stateOf(holders: readonly Place[]): "held" | "grace" {
  return holders.every(({ ticket }) => ticket?.state === "grace") ? "grace" : "held";
}

function occupant({ run, ticket }: ReturnType<typeof placeOf>): Occupant {
  return {
    run,
    host: ticket?.host,
    pid: ticket?.pid,
    count: ticket?.count,
    since: ticket?.grantedAt ?? ticket?.enqueuedAt,
    isMalformed: ticket === undefined,
  };
}
