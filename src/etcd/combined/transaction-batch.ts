import type { Op, OpResult, Txn, TxnResponse } from "../../protocol/txn.ts";
import { type FindScope, KeyCollection, type TouchedKeys } from "./touched-keys.ts";

/** Transactions in one batch. More gain little, and etcd serves nothing else meanwhile. */
export const MOST_MEMBERS = 64;
/** Operations that etcd accepts in one request. */
const MOST_OPERATIONS = 128;
/** Bytes of one request. etcd accepts 1.5 MiB; values in other alphabets take up to three bytes a character. */
const MOST_BYTES = 256 * 1024;

/** A transaction that waits for a batch. */
export interface BatchCandidate {
  readonly txn: Txn;
  /** Whether it must be sent by itself: a batch with it was refused. */
  readonly isAlone: boolean;
}

/**
 * Chooses the candidates of the next batch, in order. Nested transactions are applied one after the other, but etcd checks
 * the guards of all before it writes anything. So no two members may touch a key that one of them writes: a candidate that
 * conflicts with one of the batch waits for a later one. The first candidate is always chosen, so nobody waits for ever.
 * @param findScope for the key of a ticket, its queue: two tickets that one batch puts into a queue would have equal
 * `create_revision`, and nobody would be ahead of the other
 * @returns the first candidate, and those that fit
 */
export function chooseBatch<T extends BatchCandidate>(candidates: readonly T[], findScope: FindScope): T[] {
  const [first] = candidates;
  if (first === undefined || first.isAlone || candidates.length === 1) return candidates.slice(0, 1);
  const seen = new KeyCollection(findScope);
  const chosen: T[] = [];
  let bytes = 0;
  let operations = 0;
  for (const candidate of candidates) {
    if (chosen.length === MOST_MEMBERS) break;
    const touched: TouchedKeys = new KeyCollection(findScope).add(candidate.txn);
    const size = computeRequestSize(candidate.txn);
    const count = Math.max(operations, countOperations(candidate.txn));
    const fits = bytes + size <= MOST_BYTES && chosen.length + 1 + count <= MOST_OPERATIONS;
    const isChosen = candidate === first || (fits && !candidate.isAlone && !seen.conflictsWith(touched));
    if (!isChosen) continue;
    seen.merge(touched);
    chosen.push(candidate);
    bytes += size;
    operations = count;
  }
  return chosen;
}

/** Builds the transaction of a batch: no guards of its own, and its members nested, each with its guards. */
export function buildBatchTxn(members: readonly BatchCandidate[]): Txn {
  return { compare: [], success: members.map(({ txn }) => ({ op: "txn", txn })), failure: [] };
}

/** Returns the response of each member. All have the revision of the batch. */
export function splitResponse({ revision, raftTerm, results }: TxnResponse): TxnResponse[] {
  return results.map((result) => ({ revision, raftTerm, ...readNested(result) }));
}

function readNested(result: OpResult) {
  if (result.op !== "txn") throw new Error(`etcd answered a nested transaction with ${result.op}`);
  return { succeeded: result.succeeded, results: result.results };
}

/**
 * Computes how many operations etcd counts for a transaction: the longest of its three lists, plus the most that a nested
 * transaction of it counts. etcd accepts at most 128 (`--max-txn-ops`), counted together with the levels above.
 */
export function countOperations({ compare, success, failure }: Txn): number {
  const nested = [...success, ...failure].map((op) => (op.op === "txn" ? countOperations(op.txn) : 0));
  return Math.max(compare.length, success.length, failure.length) + Math.max(0, ...nested);
}

/** Computes about how many bytes a request for the transaction has. */
export function computeRequestSize({ compare, success, failure }: Txn): number {
  const compared = compare.reduce((sum, { key }) => sum + key.length + OVERHEAD, 0);
  return [...success, ...failure].reduce((sum, op) => sum + computeOpSize(op), compared);
}

/** Bytes of an operation besides key and value. */
const OVERHEAD = 40;

function computeOpSize(op: Op): number {
  if (op.op === "txn") return computeRequestSize(op.txn) + OVERHEAD;
  return op.key.length + (op.op === "put" ? op.value.length : 0) + OVERHEAD;
}
