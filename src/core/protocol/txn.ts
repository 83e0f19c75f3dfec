/**
 * Guarded transactions as plain data. The pure rules build them, and the store port executes them.
 * Keys are "binary strings" with one character per byte. Values are UTF-8 text. Revisions and session ids are bigint.
 */

/** Part of every response: the revision it is valid at, and the raft term of the member that sent it. */
export interface ResponseHeader {
  revision: bigint;
  raftTerm: bigint;
}

export interface KeyValue {
  key: string;
  value: string;
  createRevision: bigint;
  modRevision: bigint;
  /** The session that the key is attached to; 0n if there is none. */
  session: bigint;
  /** How often the key was written since it was created, from 1. */
  version?: bigint;
}

/** Keys from `key` up to `rangeEnd` (exclusive), or `key` alone. */
export interface KeyRange {
  key: string;
  rangeEnd?: string;
}

/** A comparison over one key or over every key of a range. A missing key compares as revision 0. */
export type Compare = KeyRange & { is: "equal" | "notEqual" | "less" | "greater" } & (
    | { target: "create" | "mod" | "session"; value: bigint }
    | { target: "value"; value: string }
  );

export type RangeOp = KeyRange & {
  limit?: number;
  sort?: { by: "key" | "create" | "mod"; order: "ascend" | "descend" };
  minCreateRevision?: bigint;
  maxCreateRevision?: bigint;
  keysOnly?: boolean;
  countOnly?: boolean;
};

export type Op =
  | ({ op: "range" } & RangeOp)
  | { op: "put"; key: string; value: string; session?: bigint; keepSession?: boolean }
  | ({ op: "delete" } & KeyRange)
  | { op: "txn"; txn: Txn };

export interface Txn {
  compare: Compare[];
  success: Op[];
  failure: Op[];
}

export interface RangeResult {
  kvs: KeyValue[];
  /** Number of keys in the whole range, regardless of the limit. */
  count: number;
  more: boolean;
}

export type OpResult =
  | ({ op: "range" } & RangeResult)
  | { op: "put" }
  | { op: "delete"; deleted: number }
  | ({ op: "txn" } & TxnResult);

export interface TxnResult {
  succeeded: boolean;
  /** One result for each operation of the branch that ran, in the same order. */
  results: OpResult[];
}

export type TxnResponse = ResponseHeader & TxnResult;

export interface WatchRequest {
  ranges: (KeyRange & { only?: "puts" | "deletes" })[];
  /** First revision to deliver: the revision of the read that led to the watch, plus one. */
  from: bigint;
  /**
   * Milliseconds between progress requests to the member. The member reports its progress in batches without events. If
   * it has reported once and then sends nothing for this long, the watch ends. Default: no progress is delivered, and
   * requests are rare.
   */
  progress?: number;
}

/** Changes that a watch delivered. */
export interface WatchBatch {
  revision: bigint;
  events: readonly WatchEvent[];
}

export type WatchEvent = { type: "put"; kv: KeyValue } | { type: "delete"; key: string; revision: bigint };

/** Computes the exclusive end of the range of all keys that begin with `prefix`. */
export function computePrefixEnd(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

/** Builds the range of all keys that begin with `prefix` (which must not be empty or end in byte 0xff). */
export function buildPrefixRange(prefix: string): Required<KeyRange> {
  return { key: prefix, rangeEnd: computePrefixEnd(prefix) };
}

/** Converts a key to the range of that key only. */
export function toSingleKeyRange(key: string): Required<KeyRange> {
  return { key, rangeEnd: `${key}\0` };
}

/** Lists the key-values of a range result; empty if the result is not a range. */
export function listKeyValues(result: OpResult | undefined): readonly KeyValue[] {
  return result?.op === "range" ? result.kvs : [];
}

/** Lists the keys of a range result; empty if the result is not a range. */
export function listKeys(result: OpResult | undefined): string[] {
  return listKeyValues(result).map(({ key }) => key);
}

/** Returns the first key of a range result. Returns undefined if the range is empty or the result is not a range. */
export function findFirstKey(result: OpResult | undefined): KeyValue | undefined {
  return listKeyValues(result)[0];
}
