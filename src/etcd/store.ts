import type {
  Header,
  KeyValue,
  RangeOp,
  RangeResult,
  Txn,
  TxnAnswer,
  WatchRequest,
} from "../protocol/txn.ts";

export type * from "../protocol/txn.ts";
export { prefixRange } from "../protocol/txn.ts";

/**
 * The store port: everything the rest of signalbox knows about etcd. It knows nothing of gRPC or HTTP.
 *
 * Shapes. Keys are "binary strings": one character a byte (latin1), so that any key put by hand survives a
 * round trip. Values are UTF-8 text; bytes that are no UTF-8 become U+FFFD. Revisions and session ids are
 * bigint. Times to live are whole seconds.
 *
 * Delivery. A call may be applied not at all, once, or more than once before it answers or fails: adapters
 * retry on another member and hedge. So every mutation must be safe to repeat: transactions by their
 * compares, grants by the client-chosen id, revokes by nature.
 */
export interface Store {
  /**
   * Grants a session with this id.
   * @throws StoreError `exists` when the id is taken: by an earlier copy of this call, when the id is random
   */
  grant(id: bigint, ttl: number, signal?: AbortSignal): Promise<Header & { ttl: number }>;
  /** Renews a session once. `ttl` is what the server states now. @throws StoreError `noSession` when it is gone */
  renew(id: bigint, signal?: AbortSignal): Promise<Header & { ttl: number }>;
  /**
   * How much of a session is left, in whole seconds, and how much it was granted or renewed for; undefined when it is
   * gone. Changes nothing.
   */
  remaining(id: bigint, signal?: AbortSignal): Promise<{ left: number; ttl: number } | undefined>;
  /** Ends a session and deletes its keys. One that is gone already is no error. */
  revoke(id: bigint, signal?: AbortSignal): Promise<void>;
  /**
   * Reads keys at one revision, linearizable unless `revision` is given, which the answer then states as its own.
   * Pages of `limit`. Keys equal in what they are sorted by come in any order.
   */
  range(range: RangeOp & { revision?: bigint }, signal?: AbortSignal): Promise<Header & RangeResult>;
  /** One guarded transaction. Reads in it are linearizable. */
  txn(txn: Txn, signal?: AbortSignal): Promise<TxnAnswer>;
  /**
   * Follows keys from a revision on, in batches of one revision or more, in order, none left out. A batch has all
   * events of its revisions in one range; of several ranges each is in order by itself, so while they catch up, a batch
   * of one may come before an older one of another.
   * Where `progress` is asked for, batches without events say that all up to their revision has been delivered. Members
   * before 3.4.25 and 3.5.8 may say so too soon: good for telling whether a watch lives, not for more.
   * Ends only by throwing: the signal's reason, or StoreError (`compacted`, `unavailable`, …). The caller reads
   * the ranges again and watches anew; a watch is a hint, and can die in silence.
   */
  watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<WatchBatch>;
  /** What each configured member says of itself, or why it does not answer. */
  status(signal?: AbortSignal): Promise<MemberStatus[]>;
  /** Who belongs to the cluster, as one member knows it. Needs no majority. @throws StoreError */
  roster(signal?: AbortSignal): Promise<ClusterMember[]>;
  /** Closes connections. Calls under way fail as `unavailable`. */
  close(): void;
}

export interface WatchBatch {
  revision: bigint;
  events: WatchEvent[];
}

export type WatchEvent = { type: "put"; kv: KeyValue } | { type: "delete"; key: string; revision: bigint };

export type MemberStatus =
  | {
      endpoint: string;
      ok: true;
      version: string;
      memberId: bigint;
      leaderId: bigint;
      revision: bigint;
      raftTerm: bigint;
      raftIndex: bigint;
      /** Bytes of its database's file. */
      dbSize: number;
      /** Bytes of them in use; the rest comes back with a defragmentation. Not every transport and version says. */
      dbInUse?: number;
      clusterId?: bigint;
      errors: string[];
      /** Round trip of the answer in milliseconds. */
      millis: number;
    }
  | { endpoint: string; ok: false; error: StoreError };

/** A member of the cluster, whether it is one of our endpoints or not. */
export interface ClusterMember {
  id: bigint;
  /** Empty while it has not joined yet. */
  name: string;
  /** Where clients are to find it. */
  clientUrls: readonly string[];
  /** It only listens, and does not count for a majority. */
  isLearner: boolean;
}

export type StoreErrorKind =
  | "unavailable" // no answer in time from any member; may or may not have been applied
  | "exists" // the session id is taken
  | "noSession" // the session is gone, or was never there
  | "compacted" // the revision asked for has been compacted
  | "unauthenticated" // user, password or token refused
  | "permission" // the role does not allow it
  | "noSpace" // the server's quota is exhausted: no puts, no new sessions; reads, renewals, revokes and deletes work
  | "invalid"; // the server does not understand the call: a defect, or a server too old

/** A call that failed. Only `unavailable` may succeed when repeated as it is. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}
