import {
  addMs,
  type Clock,
  forwardAbort,
  type MonotonicTime,
  NEVER,
  NO_LONGER_NEEDED,
  type Seconds,
  sleepUntilLate,
  subtractTime,
} from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { AnsweringStatus, ClusterMember } from "../protocol/member.ts";
import type {
  KeyRange,
  RangeOp,
  RangeResult,
  ResponseHeader,
  Txn,
  TxnResponse,
  WatchBatch,
  WatchRequest,
} from "../protocol/txn.ts";

/**
 * The store port: the interface through which the rest of signalbox uses etcd. It is independent of gRPC and HTTP.
 *
 * Shapes. Keys are "binary strings" with one character per byte (latin1), so that every key, including one written by
 * hand, survives a round trip. Values are UTF-8 text; bytes that are not valid UTF-8 become U+FFFD. Revisions and
 * session ids are bigint. Times to live are whole seconds.
 *
 * Delivery. A call may be applied zero times, once, or more than once before it returns or fails, because adapters
 * retry on another member and hedge. Every mutation must therefore be safe to repeat: transactions through their
 * compares, grants through the client-chosen id, revokes because they are idempotent.
 */
export interface Store {
  /**
   * Returns the newest raft term that an answer has stated, recently, else that of a new answer. No later entry of etcd's
   * log has an earlier term.
   */
  readTerm(signal?: AbortSignal): Promise<bigint>;
  /**
   * Grants a session with this id.
   * @throws StoreError `exists` when the id is taken; with a random id, by an earlier copy of this call
   */
  grant(id: bigint, ttl: Seconds, signal?: AbortSignal): Promise<ResponseHeader & { ttl: Seconds }>;
  /**
   * Renews a session once. `ttl` is the value that the server returns.
   * @throws StoreError `noSession` when it is gone
   */
  renew(id: bigint, signal?: AbortSignal): Promise<ResponseHeader & { ttl: Seconds }>;
  /**
   * Reads the remaining time of a session and the time it was granted or renewed for, both in whole seconds. Returns
   * undefined when the session is gone. Changes nothing.
   */
  readTimeToLive(id: bigint, signal?: AbortSignal): Promise<{ left: Seconds; ttl: Seconds } | undefined>;
  /** Lists the keys of a session, as one member knows them; empty when it is gone. Changes nothing. */
  listSessionKeys(id: bigint, signal?: AbortSignal): Promise<string[]>;
  /** Lists the ids of all sessions, including those of other programs, as one member knows them. */
  listSessions(signal?: AbortSignal): Promise<bigint[]>;
  /** Ends a session and deletes its keys. Succeeds when the session is already gone. */
  revoke(id: bigint, signal?: AbortSignal): Promise<void>;
  /**
   * Reads keys at one revision. The read is linearizable unless `revision` is given; the response then has that
   * revision as its own. Returns pages of `limit`. Keys with equal sort values are in no defined order.
   */
  readRange(range: RangeRead, signal?: AbortSignal): Promise<ResponseHeader & RangeResult>;
  /** Commits one guarded transaction. Its reads are linearizable. */
  commitTxn(txn: Txn, signal?: AbortSignal): Promise<TxnResponse>;
  /**
   * Watches keys from a revision on. Yields batches of one or more revisions, in order and without gaps. A batch
   * contains all events of its revisions in one range. With several ranges, each range is ordered by itself; while they
   * catch up, a batch of one range may precede an older batch of another.
   * With `progress`, batches without events mean that all events up to their revision have been delivered. Members
   * before 3.4.25 and 3.5.8 may send them too early. Use them only to check that a watch is alive.
   * Ends only by throwing: the signal's reason, or StoreError (`compacted`, `unavailable`, …). The caller then reads
   * the ranges again and opens a new watch. A watch is only a hint and can stop without an error.
   */
  watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<WatchBatch>;
  /** Reads the status of each configured member, or the error with which the request failed. */
  readMemberStatuses(signal?: AbortSignal): Promise<MemberStatus[]>;
  /** Lists the members of the cluster as one member knows them. Needs no majority. @throws StoreError */
  listMembers(signal?: AbortSignal): Promise<ClusterMember[]>;
  /** Reads users and roles. @throws StoreError `permission` if etcd has users, and this one is not a root */
  readUsers(signal?: AbortSignal): Promise<UserDirectory>;
  /** Closes connections. Calls in flight fail as `unavailable`. */
  close(): void;
}

/** A read of keys. */
export type RangeRead = RangeOp & {
  /** Default: the current one. */
  revision?: bigint | undefined;
  /** Returns values as binary strings, with one character per byte, as keys are. */
  binaryValues?: boolean;
};

export type MemberStatus = AnsweringStatus | { endpoint: string; ok: false; error: StoreError };

/** The users of etcd, and what their roles allow. */
export interface UserDirectory {
  /** Whether etcd requires a login. Otherwise users and roles have no effect. */
  isEnabled: boolean;
  users: readonly { name: string; roles: readonly string[] }[];
  roles: readonly { name: string; permissions: readonly KeyPermission[] }[];
}

/** A permission on one key, or on a range. A `rangeEnd` of one zero byte: all keys from `key` on. */
export interface KeyPermission extends KeyRange {
  access: "read" | "write" | "readwrite";
}

export type StoreErrorKind =
  | "unavailable" // no response in time from any member; may or may not have been applied
  | "exists" // the session id is taken
  | "noSession" // the session is gone or never existed
  | "compacted" // the requested revision has been compacted
  | "unauthenticated" // etcd refused the user, password or token
  | "permission" // the role does not allow the call
  | "noSpace" // the server's quota is exhausted: no puts, no new sessions; reads, renewals, revokes and deletes work
  | "unusable" // etcd answers, but serves no calls of signalbox: its data are corrupt, or a limit of it is too small
  | "tooLarge" // a value or all of the call exceeds the limit of the server
  | "otherCluster" // an endpoint belongs to a different cluster than the others or than the configured one
  | "notEtcd" // the server is another program, or an etcd with its gateway disabled
  | "invalid"; // the server does not understand the call: a defect in signalbox, or a server that is too old

/** A failed call. Only `unavailable` may succeed when the same call is repeated. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** Creates a store that replaces the given functions of another store, and passes all other calls on to it. */
export function delegateStore(store: Store, overrides: Partial<Store>): Store {
  return {
    readTerm: (...args) => store.readTerm(...args),
    grant: (...args) => store.grant(...args),
    renew: (...args) => store.renew(...args),
    readTimeToLive: (...args) => store.readTimeToLive(...args),
    listSessionKeys: (...args) => store.listSessionKeys(...args),
    listSessions: (...args) => store.listSessions(...args),
    revoke: (...args) => store.revoke(...args),
    readRange: (...args) => store.readRange(...args),
    commitTxn: (...args) => store.commitTxn(...args),
    watch: (...args) => store.watch(...args),
    readMemberStatuses: (...args) => store.readMemberStatuses(...args),
    listMembers: (...args) => store.listMembers(...args),
    readUsers: (...args) => store.readUsers(...args),
    close: () => store.close(),
    ...overrides,
  };
}

/** First and longest pause between attempts, ms. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Minimum time for one attempt, even after the deadline, ms. */
const MIN_ATTEMPT_MS = 1_000;
/** The signal of calls that nothing ends early. */
const NEVER_ABORTED = new AbortController().signal;

/**
 * Repeats a call that got no response until it succeeds or the deadline passes. Use it only for calls that are safe to
 * repeat.
 * @param until  at least one attempt is made
 * @param call   one attempt; its signal is aborted with `unavailable` at the deadline
 * @throws the last `unavailable`; any other error at once; or the signal's reason
 */
export async function retryUnavailable<T>(
  ports: { clock: Clock; random: Random },
  until: MonotonicTime,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await runWithDeadline(ports.clock, until, call, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const wait = pause * (0.5 + ports.random.generateFraction() / 2);
      if (!isUnavailable(error) || addMs(ports.clock.now(), wait) >= until) throw error;
      await ports.clock.sleep(wait, signal);
    }
  }
}

/**
 * Makes a call once.
 * @param until  when the call is aborted with `unavailable`; it gets at least one second
 * @throws what the call throws, or the signal's reason
 */
export async function runWithDeadline<T>(
  clock: Clock,
  until: MonotonicTime,
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  if (until === NEVER) return await call(signal ?? NEVER_ABORTED);
  const stop = new AbortController(); // aborted at the end too, which ends the timer
  const stopForwarding = forwardAbort(signal, stop);
  const left = Math.max(MIN_ATTEMPT_MS, subtractTime(until, clock.now()));
  const abortLate = () =>
    stop.abort(new StoreError("unavailable", `no answer within ${Math.round(left)} ms`));
  void sleepUntilLate(clock, left, stop.signal).then(abortLate, () => {}); // rejected: the attempt has ended
  try {
    return await call(stop.signal);
  } finally {
    stopForwarding();
    stop.abort(NO_LONGER_NEEDED);
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "unavailable";
}

export function isCompacted(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "compacted";
}
