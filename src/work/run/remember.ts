import { persist } from "../../etcd/persist.ts";
import { appended, type PastRun, pastRuns } from "../../protocol/history.ts";
import type { KeyValue, Op, Txn, TxnResult } from "../../protocol/txn.ts";
import type { ClaimPorts } from "./request.ts";

/** How often a history is tried again that others append to at the same time. */
const TRIES = 5;

/** A run to be remembered in its lock's history. */
export interface Memory {
  /** The history's key. */
  key: string;
  past: PastRun;
  /** The history as it was read at the grant; undefined where it was not. */
  known: { kv: KeyValue | undefined } | undefined;
}

/**
 * Appends inside the transaction that frees the lock, in a nested one: should it refuse, the release goes on. A history
 * that was not read has no revision to compare with, so its append refuses, and reads.
 */
export function historyOps(memory: Memory | undefined): Op[] {
  if (memory === undefined) return [];
  const { key, past, known } = memory;
  const revision = known === undefined ? -1n : (known.kv?.modRevision ?? 0n);
  return [{ op: "txn", txn: append(key, known?.kv, past, revision) }];
}

/**
 * Appends after the release, from what a refused try has read.
 * @param refused  the try's result: its only operation read the history
 * @param until    instant on the clock, ms, until which a silent etcd is tried
 * @throws StoreError
 */
export async function remember(
  ports: ClaimPorts,
  memory: Memory,
  refused: TxnResult,
  until: number,
): Promise<void> {
  const { key, past } = memory;
  for (let result = refused, tries = 0; !result.succeeded && tries < TRIES; tries += 1) {
    const [read] = result.results;
    const kv = read?.op === "range" ? read.kvs[0] : undefined;
    if (pastRuns(kv?.value).some(({ run }) => run === past.run)) return; // a copy of the call had done it
    const txn = append(key, kv, past, kv?.modRevision ?? 0n);
    result = await persist(ports, until, (call) => ports.store.txn(txn, call));
  }
}

function append(key: string, kv: KeyValue | undefined, past: PastRun, revision: bigint): Txn {
  return {
    compare: [{ key, target: "mod", is: "equal", value: revision }],
    success: [{ op: "put", key, value: appended(kv?.value, past) }],
    failure: [{ op: "range", key }],
  };
}
