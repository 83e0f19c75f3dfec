/** An etcd with a run, and what the run has read. */
import { MemoryEtcd } from "../../../src/core/etcd/memory/memory-store.ts";
import type { ReadBasis } from "../../../src/core/protocol/guards.ts";
import { type QueueEntry, serializeTicket, toQueueEntry } from "../../../src/core/protocol/ticket.ts";
import { keys, ticketWith } from "./samples.ts";

export const [SESSION, OTHERS] = [1n, 2n];
export const [OWN, OTHER] = ["0wn0wn0wn0wn0wn0", "0ther0ther0ther0"];
export const lockKey = keys.lock("a", OWN);
export const dbKey = keys.resource("db", OWN);
export const [dbConfig, memConfig] = [keys.resourceConfig("db"), keys.resourceConfig("mem")];

/** An etcd with a configured resource, two groups, a drain of another lock and own tickets; and what a run read of it. */
export function room(standing: readonly string[]) {
  const etcd = new MemoryEtcd({ now: () => 0 });
  etcd.grant(SESSION, 30);
  etcd.grant(OTHERS, 30);
  for (const key of [dbConfig, keys.group("web"), keys.group("all"), keys.drain("lock", "z")])
    put(etcd, key, "10");
  for (const key of standing) put(etcd, key, serializeTicket(ticketWith({ run: OWN })), SESSION);
  const config = [dbConfig, memConfig].map((key) => ({
    key,
    modRevision: find(etcd, key)?.modRevision ?? 0n,
  }));
  const basis: ReadBasis = { revision: etcd.revision, groupsMatter: true, config };
  return { etcd, basis, entries: standing.flatMap((key) => find(etcd, key) ?? []) };
}

export function put(etcd: MemoryEtcd, key: string, value: string, session?: bigint): void {
  etcd.apply({ compare: [], success: [{ op: "put", key, value, ...(session && { session }) }], failure: [] });
}

export function remove(etcd: MemoryEtcd, key: string): void {
  etcd.apply({ compare: [], success: [{ op: "delete", key }], failure: [] });
}

export function find(etcd: MemoryEtcd, key: string): QueueEntry | undefined {
  return etcd.range({ key }).kvs.map(toQueueEntry)[0];
}

export const stake = (key: string) => ({ key, ticket: ticketWith({ run: OWN, state: "held" }) });
