import { addMs, type Clock, type Millis, type MonotonicTime } from "../../core/base/clock.ts";
import type { Random } from "../../core/base/random.ts";
import { type RangeRead, retryUnavailable, type Store } from "../../core/etcd/store.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  findFirstKey,
  type KeyValue,
  type RangeResult,
  type ResponseHeader,
  type Txn,
  type TxnResponse,
} from "../../core/protocol/txn.ts";

/** What reading etcd needs from its environment. */
export interface ObserverPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  /** In ms. */
  settings: { connectTimeout: Millis };
}

/**
 * Commits a transaction that is safe to repeat. Retries while etcd does not answer, at most for the connect timeout.
 * @throws StoreError
 */
export function commitWithRetries(
  ports: ObserverPorts,
  txn: Txn,
  signal?: AbortSignal,
): Promise<TxnResponse> {
  return retryUnavailable(ports, getRetryEnd(ports), (call) => ports.store.commitTxn(txn, call), signal);
}

/** Reads a range. Retries while etcd does not answer, at most for the connect timeout. @throws StoreError */
export function readWithRetries(
  ports: ObserverPorts,
  range: RangeRead,
  signal?: AbortSignal,
): Promise<ResponseHeader & RangeResult> {
  return retryUnavailable(ports, getRetryEnd(ports), (call) => ports.store.readRange(range, call), signal);
}

/**
 * Reads keys, each of which is undefined if it does not exist. Returns none if this user must not read one of them, or etcd
 * does not answer.
 */
export async function readKeysIfAllowed(
  ports: ObserverPorts,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<(KeyValue | undefined)[]> {
  const success = keys.map((key) => ({ op: "range", key }) as const);
  const txn = { compare: [], success, failure: [] };
  const answer = await commitWithRetries(ports, txn, signal).catch(() => undefined);
  return answer?.results.map(findFirstKey) ?? [];
}

function getRetryEnd({ clock, settings }: ObserverPorts): MonotonicTime {
  return addMs(clock.now(), settings.connectTimeout);
}
