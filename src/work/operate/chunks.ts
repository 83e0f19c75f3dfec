import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { Op } from "../../protocol/txn.ts";

/** Operations that stand in a transaction as they are, and keys that are compared one by one: etcd takes 128. */
export const FEW = 60;
/** Changes in one of the transactions that one transaction is made of: etcd counts the levels together. */
const CHUNK = 60;
/** Changes in one transaction: as many chunks as fit beside `CHUNK` operations in each. */
export const MOST_CHANGES = CHUNK * CHUNK;
/** Bytes in one transaction; etcd's own limit is 1.5 MiB (--max-request-bytes). */
const MOST_BYTES = 1_400_000;

/**
 * Any number of operations as one transaction's.
 *
 * Older etcds check no permission inside a transaction within a transaction (GHSA-rfx7-8w68-q57q). So one change of each
 * room stands outside, where all of them check it: who may not write there is refused.
 * @param roomOf  the room that an operation writes into
 * @throws SignalboxError 78 where it is too much for one transaction
 */
export function inChunks(ops: readonly Op[], roomOf: (op: Op) => string): Op[] {
  checkSize(ops);
  if (ops.length <= FEW) return [...ops];
  const rooms = new Set<string>();
  const isFirst = (op: Op) => {
    const room = roomOf(op);
    return !rooms.has(room) && rooms.add(room) !== undefined;
  };
  const outside = new Set(ops.filter(isFirst));
  const inside = ops.filter((op) => !outside.has(op));
  const chunks = Array.from({ length: Math.ceil(inside.length / CHUNK) }, (_, index) =>
    inside.slice(index * CHUNK, (index + 1) * CHUNK),
  );
  return [
    ...outside,
    ...chunks.map((success): Op => ({ op: "txn", txn: { compare: [], success, failure: [] } })),
  ];
}

function checkSize(ops: readonly Op[]): void {
  const bytes = ops.reduce((sum, op) => sum + weight(op), 0);
  if (ops.length <= MOST_CHANGES && bytes <= MOST_BYTES) return;
  throw new SignalboxError(
    EXIT.config,
    `nothing was done: ${ops.length} changes of ${bytes} bytes are too much for one transaction of etcd ` +
      `(${MOST_CHANGES} changes, ${MOST_BYTES} bytes); import it in parts`,
  );
}

function weight(op: Op): number {
  return op.op === "put" ? op.key.length + Buffer.byteLength(op.value) : 0;
}
