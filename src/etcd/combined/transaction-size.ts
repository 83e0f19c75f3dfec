import type { Op, Txn } from "../../protocol/txn.ts";

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
