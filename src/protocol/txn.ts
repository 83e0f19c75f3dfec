/**
 * The vocabulary of guarded transactions, as data: what the pure rules are written in and the store port carries.
 * Keys are "binary strings", one character a byte; values are UTF-8 text; revisions and session ids are bigint.
 */

/** In every answer: the revision it is true at, and the raft term of the member that gave it. */
export interface Header {
  revision: bigint;
  raftTerm: bigint;
}

export interface KeyValue {
  key: string;
  value: string;
  createRevision: bigint;
  modRevision: bigint;
  /** The session the key lives under; 0n for none. */
  session: bigint;
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
  /** Keys in the whole range, whatever the limit. */
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
  /** One result an operation of the branch that ran, in its order. */
  results: OpResult[];
}

export type TxnAnswer = Header & TxnResult;

export interface WatchRequest {
  ranges: (KeyRange & { only?: "puts" | "deletes" })[];
  /** First revision to deliver: that of the read which justified the wait, plus one. */
  from: bigint;
  /**
   * Milliseconds. How often the member is asked how far it is; it tells that in batches without events, and where it has
   * told it once and does so no more for as long again, the watch ends. Default: nothing is told, and it is asked seldom.
   */
  progress?: number;
}

/** The end of the range of all keys that begin with `prefix`. */
export function prefixEnd(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

/** The range of all keys that begin with `prefix` (which must not be empty nor end in byte 0xff). */
export function prefixRange(prefix: string): Required<KeyRange> {
  return { key: prefix, rangeEnd: prefixEnd(prefix) };
}
