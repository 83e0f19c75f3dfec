import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { persist } from "../../etcd/persist.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";

/** What administration needs of the world. */
export interface AdminPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  settings: { connectTimeout: number };
}

/** Keys to a page: a page of the largest values stays well below etcd's limits. */
const PAGE = 500;

/** Every key of a range at one revision, read in pages. @throws StoreError */
export async function readAll(ports: AdminPorts, range: Required<KeyRange>): Promise<KeyValue[]> {
  const kvs: KeyValue[] = [];
  let { key } = range;
  let revision: bigint | undefined;
  for (;;) {
    const page = await patiently(ports, (signal) =>
      ports.store.range({ ...range, key, limit: PAGE, ...(revision !== undefined && { revision }) }, signal),
    );
    kvs.push(...page.kvs);
    revision ??= page.revision;
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return kvs;
    key = `${last.key}\0`;
  }
}

/** Repeats a call while etcd does not answer, for as long as a connection may take. */
export function patiently<T>(ports: AdminPorts, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return persist(ports, ports.clock.now() + ports.settings.connectTimeout, call);
}

/** Puts one key, whatever was there. */
export async function put(ports: AdminPorts, key: string, value: string): Promise<void> {
  await patiently(ports, (signal) =>
    ports.store.txn({ compare: [], success: [{ op: "put", key, value }], failure: [] }, signal),
  );
}
