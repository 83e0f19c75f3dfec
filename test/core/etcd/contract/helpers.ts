import { expect } from "vitest";
import { type Store, StoreError } from "../../../../src/core/etcd/store.ts";
import type {
  Compare,
  Op,
  TxnResponse,
  WatchBatch,
  WatchEvent,
  WatchRequest,
} from "../../../../src/core/protocol/txn.ts";

export interface Subject {
  store: Store;
  /** Forgets the revisions before this one. */
  compact(revision: bigint): Promise<void>;
  /** Lets time pass for the server, where it does not pass by itself. */
  pass(ms: number): Promise<void>;
  /** Puts bytes as they are, and reads them; undefined where a store holds text. */
  putBytes?(key: string, value: string): Promise<bigint>;
  stop(): Promise<void>;
}

export const MAX_INT64 = 0x7fff_ffff_ffff_ffffn;
let lastId = 1000n;
export const createId = () => ++lastId;
let lastPlace = 0;
/** A prefix of its own for each test. */
export const createPrefix = () => `/contract/${++lastPlace}/`;

export const put = (key: string, value = "", session?: bigint): Op => ({
  op: "put",
  key,
  value,
  ...(session && { session }),
});
export const compareAbsent = (key: string): Compare => ({ key, target: "create", is: "equal", value: 0n });

/** A refusal; fails the test when nothing was refused or something else was thrown. */
export async function catchRefusal(call: Promise<unknown>): Promise<StoreError> {
  const error = await call.then(
    (value) => expect.fail(`was not refused: ${String(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StoreError)) throw error;
  expect(error.message).not.toBe("");
  return error;
}

export const catchErrorKind = async (call: Promise<unknown>) => (await catchRefusal(call)).kind;

/** The first batch of a watch of one key. */
export async function watchOnce(store: Store, key: string, from: bigint): Promise<WatchBatch> {
  const [batch] = await followWatch(store, { ranges: [{ key }], from }, () => true);
  return batch as WatchBatch;
}

export function write(store: Store, ...ops: Op[]): Promise<TxnResponse> {
  return store.commitTxn({ compare: [], success: ops, failure: [] });
}

/** Follows a watch until `enough` says so. */
export async function followWatch(
  store: Store,
  request: WatchRequest,
  enough: (events: WatchEvent[]) => boolean,
): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = [];
  const stop = new AbortController();
  for await (const batch of store.watch(request, stop.signal)) {
    batches.push(batch);
    if (enough(batches.flatMap(({ events }) => events))) break;
  }
  stop.abort();
  return batches;
}

export const formatEvent = (event: WatchEvent) =>
  event.type === "put" ? `put ${event.kv.key}` : `delete ${event.key}`;
export const getRevision = (event: WatchEvent) =>
  event.type === "put" ? event.kv.modRevision : event.revision;
