import { retryUnavailable } from "../etcd/retry.ts";
import { appendPastRun, type PastRun, parsePastRuns } from "../protocol/history.ts";
import { findFirstKey, type KeyValue, type Op, type Txn, type TxnResult } from "../protocol/txn.ts";
import type { Grant } from "./acquire.ts";
import type { ClaimPorts } from "./request.ts";

/** How the work that held a claim ended. */
interface ClaimEnd {
  /** Exit code; 0 for success. */
  exit: number;
  reason: string | undefined;
  /** The end of the output, if it was kept. */
  tail?: string | undefined;
}

/** Builds the history entry of a claim that ends now; undefined when no history is kept. */
export function buildHistoryUpdate(
  grant: Grant,
  { exit, reason, tail }: ClaimEnd,
): HistoryUpdate | undefined {
  const { ports, request } = grant.attempt;
  if (!request.history || request.lock === undefined) return undefined;
  const { attempt, grantedAt, entries } = grant;
  const { host, pid, command, label } = request.identity;
  const endedAt = ports.clock.getWallTime();
  const past: PastRun = {
    run: attempt.run,
    host,
    pid,
    command,
    exit,
    ...(label !== undefined && { label }),
    ...(reason !== undefined && { reason }),
    ...(tail !== undefined && { tail }),
    token: String(entries[0]?.createRevision),
    enqueuedAt: attempt.enqueuedAt,
    grantedAt,
    endedAt,
    waited: grantedAt - attempt.enqueuedAt,
    held: endedAt - grantedAt,
  };
  return { key: ports.keys.history(request.lock), past, known: grant.history };
}

/** How often to retry an append when others append to the same history at the same time. */
const TRIES = 5;

/** A run to append to the history of its lock. */
export interface HistoryUpdate {
  /** The history's key. */
  key: string;
  past: PastRun;
  /** The history as read at the grant; undefined when it was not read. */
  known: { kv: KeyValue | undefined } | undefined;
}

/**
 * Builds a nested transaction that appends inside the transaction that frees the lock. If the nested one fails, the
 * release still succeeds. A history that was not read has no revision to compare, so its append fails and reads it.
 */
export function buildHistoryOps(update: HistoryUpdate | undefined): Op[] {
  if (update === undefined) return [];
  const { key, past, known } = update;
  const revision = known === undefined ? -1n : (known.kv?.modRevision ?? 0n);
  return [{ op: "txn", txn: buildAppendTxn(key, known?.kv, past, revision) }];
}

/**
 * Appends after the release, based on what the failed nested transaction has read.
 * @param refused  the result of the failed transaction: its only operation read the history
 * @param until  reading of the clock, ms, until which calls are retried while etcd does not answer
 * @throws StoreError
 */
export async function appendToHistory(
  ports: ClaimPorts,
  update: HistoryUpdate,
  refused: TxnResult,
  until: number,
): Promise<void> {
  const { key, past } = update;
  for (let result = refused, tries = 0; !result.succeeded && tries < TRIES; tries += 1) {
    const kv = findFirstKey(result.results[0]);
    if (parsePastRuns(kv?.value).some(({ run }) => run === past.run)) return; // an earlier copy of the call was applied
    const txn = buildAppendTxn(key, kv, past, kv?.modRevision ?? 0n);
    result = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  }
}

function buildAppendTxn(key: string, kv: KeyValue | undefined, past: PastRun, revision: bigint): Txn {
  return {
    compare: [{ key, target: "mod", is: "equal", value: revision }],
    success: [{ op: "put", key, value: appendPastRun(kv?.value, past) }],
    failure: [{ op: "range", key }],
  };
}
