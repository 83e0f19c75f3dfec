import { clean, quoteText } from "../../base/text.ts";
import type { KeyRange, Op } from "../../protocol/txn.ts";
import { StoreError, type Txn } from "../store.ts";

/** Maximum number of keys named in a message; the rest are only counted. */
const NAMED = 2;

/** The keys that a call reads and writes. */
export interface KeyAccess {
  reads: readonly string[];
  writes: readonly string[];
}

/** Returns the keys of a transaction, including nested ones. Comparing a key needs the permission to read it. */
export function computeTxnAccess({ compare, success, failure }: Txn): KeyAccess {
  const parts = [...success, ...failure].map(computeOpAccess);
  return {
    reads: [...compare.map(({ key }) => key), ...parts.flatMap(({ reads }) => reads)],
    writes: parts.flatMap(({ writes }) => writes),
  };
}

function computeOpAccess(op: Op): KeyAccess {
  if (op.op === "txn") return computeTxnAccess(op.txn);
  return op.op === "range" ? computeRangeAccess([op]) : { reads: [], writes: [op.key] };
}

export function computeRangeAccess(ranges: readonly KeyRange[]): KeyAccess {
  return { reads: ranges.map(({ key }) => key), writes: [] };
}

/**
 * Adds the user and the keys to a permission error, because etcd's own message names neither.
 * @param user  undefined when a client certificate identifies the caller
 * @returns other errors unchanged
 */
export function explainDenied(
  error: unknown,
  user: string | undefined,
  { reads, writes }: KeyAccess,
): unknown {
  if (!(error instanceof StoreError) || error.kind !== "permission") return error;
  const wanted = [
    ...(writes.length > 0 ? [`readwrite on ${listKeys(writes)}`] : []),
    ...(reads.length > 0 ? [`read on ${listKeys(reads)}`] : []),
  ].join(", ");
  const who = user === undefined ? "the user of this client" : `user ${quoteText(user)}`;
  const text = `${error.message}; ${who} needs a role with ${wanted}: signalbox doctor says what to grant`;
  return new StoreError("permission", text, { cause: error });
}

function listKeys(keys: readonly string[]): string {
  const distinct = [...new Set(keys)];
  const more = distinct.length > NAMED ? [`${distinct.length - NAMED} more keys`] : [];
  return [...distinct.slice(0, NAMED).map((key) => clean(key, 120)), ...more].join(" and ");
}
