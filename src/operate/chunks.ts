import { TooLargeError } from "../base/errors.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Op } from "../protocol/txn.ts";

/** Largest number of direct operations, or of keys compared one by one, in a transaction: etcd accepts 128. */
export const MAX_DIRECT_OPS = 60;
/** Changes in one nested transaction: etcd counts the operations of all levels together. */
const CHUNK = 60;
/** Changes in one transaction: as many chunks as fit besides `CHUNK` operations in each. */
export const MAX_CHANGES = CHUNK * CHUNK;
/** Size of one transaction in bytes; etcd's own limit is 1.5 MiB (--max-request-bytes). */
export const MAX_BYTES = 1_400_000;

/**
 * Distributes any number of operations over nested transactions of one transaction.
 *
 * Older versions of etcd do not check permissions inside nested transactions (GHSA-rfx7-8w68-q57q). One change of each
 * collection therefore stays at the top level, which all versions check: they refuse a user without write permission
 * there.
 * @throws TooLargeError when the changes exceed one transaction
 */
export function splitIntoChunks(keys: Keys, ops: readonly Op[]): Op[] {
  checkSize(ops);
  if (ops.length <= MAX_DIRECT_OPS) return [...ops];
  const rooms = new Set<string>();
  const isFirst = (op: Op) => {
    const room = getCollection(keys, op);
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

function getCollection(keys: Keys, op: Op): string {
  return op.op === "put" || op.op === "delete" ? keys.parse(op.key).kind : "";
}

function checkSize(ops: readonly Op[]): void {
  const bytes = ops.reduce((sum, op) => sum + computeBytes(op), 0);
  if (ops.length <= MAX_CHANGES && bytes <= MAX_BYTES) return;
  throw new TooLargeError(
    `nothing was done: ${ops.length} changes of ${bytes} bytes exceed the limits of one transaction ` +
      `(${MAX_CHANGES} changes, ${MAX_BYTES} bytes); make them in parts, or with less data`,
  );
}

/** Returns the size of an operation in a transaction, in bytes. */
export function computeBytes(op: Op): number {
  return op.op === "put" ? op.key.length + Buffer.byteLength(op.value) : 0;
}
