import { bisect } from "../base/bisect.ts";
import { type Clock, listenForAbort, NO_LONGER_NEEDED } from "../base/clock.ts";
import type { Keys } from "../protocol/keys.ts";
import type { KeyRange, Op, OpResult, Txn, TxnResponse } from "../protocol/txn.ts";
import { delegateStore, type Store, StoreError } from "./store.ts";

/**
 * A batch without an answer after this time, ms, no longer holds up the transactions that wait: the next batch is sent
 * beside it.
 */
const SLOW_BATCH_MS = 100;
/** Maximum number of batches in flight. */
const MOST_AT_ONCE = 2;

/**
 * Combines transactions that are committed at the same time into one request: one raft entry instead of many. A
 * transaction is sent at once if none is in flight; those that arrive meanwhile form the next batch. Each has its own
 * guards, and succeeds or fails independently of the others.
 *
 * Read-only transactions have their own batches. After the loss of a leader, writes can hang for seconds, and must not
 * delay the check whether a claim still exists.
 *
 * If etcd does not answer a batch, each member gets `unavailable`, and its caller finds out whether it was applied, as
 * after a separate call. If etcd refuses a batch (a missing permission, no space), each member is sent separately.
 * @param runSoon  runs an action after all input that has already arrived, without waiting for more
 */
export function combineTransactions(
  store: Store,
  clock: Clock,
  keys: Keys,
  runSoon: (action: () => void) => void = setImmediate,
): Store {
  const createCombiner = () =>
    new TransactionCombiner(store, { clock, runSoon }, (key) => findQueueRange(keys, key));
  const [writes, reads] = [createCombiner(), createCombiner()];
  return delegateStore(store, {
    commitTxn: (txn, signal) => (isReadOnly(txn) ? reads : writes).commit(txn, signal),
  });
}

function isReadOnly({ success, failure }: Txn): boolean {
  return [...success, ...failure].every((op) => (op.op === "txn" ? isReadOnly(op.txn) : op.op === "range"));
}

function findQueueRange(keys: Keys, key: string): Required<KeyRange> | undefined {
  const queue = keys.parseQueueKey(key);
  return queue && keys.getQueueRange(queue.kind, queue.name);
}

/** A transaction whose caller waits. */
interface WaitingTxn extends BatchCandidate {
  isAlone: boolean;
  readonly signal: AbortSignal | undefined;
  readonly answer: PromiseWithResolvers<TxnResponse>;
  /** Called when the caller no longer waits. */
  onLeave: (() => void) | undefined;
}

class TransactionCombiner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #runSoon: (action: () => void) => void;
  readonly #findScope: FindScope;
  #waiting: WaitingTxn[] = [];
  /** Number of batches in flight that are not slow. */
  #prompt = 0;
  #inFlight = 0;
  #isScheduled = false;

  constructor(
    store: Store,
    { clock, runSoon }: { clock: Clock; runSoon(action: () => void): void },
    findScope: FindScope,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#runSoon = runSoon;
    this.#findScope = findScope;
  }

  /** @throws StoreError; the signal's reason, at once */
  async commit(txn: Txn, signal: AbortSignal | undefined): Promise<TxnResponse> {
    signal?.throwIfAborted();
    const answer = Promise.withResolvers<TxnResponse>();
    const waiting: WaitingTxn = { txn, signal, isAlone: false, answer, onLeave: undefined };
    const leave = () => {
      waiting.answer.reject(signal?.reason);
      waiting.onLeave?.();
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
    };
    const stopListening = listenForAbort(signal, leave);
    this.#waiting.push(waiting);
    this.#schedule();
    try {
      return await waiting.answer.promise;
    } finally {
      stopListening();
    }
  }

  /** Sends after the input that has already arrived, such as the calls of many launchers, so that one batch has them all. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#runSoon(() => {
      this.#isScheduled = false;
      this.#sendWaiting();
    });
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#canSend()) {
      const members = new Set(chooseBatch(this.#waiting, this.#findScope));
      this.#waiting = this.#waiting.filter((waiting) => !members.has(waiting));
      void this.#send([...members]);
    }
  }

  #canSend(): boolean {
    const isFull = this.#waiting.length >= MOST_MEMBERS;
    return this.#inFlight < MOST_AT_ONCE && (this.#prompt === 0 || isFull);
  }

  async #send(members: readonly WaitingTxn[]): Promise<void> {
    this.#inFlight += 1;
    const end = this.#countPrompt();
    try {
      const [only] = members;
      const answers =
        members.length === 1 && only !== undefined
          ? [await this.#store.commitTxn(only.txn, only.signal)]
          : splitResponse(await this.#commitBatch(members));
      for (const [at, { answer }] of members.entries()) answer.resolve(answers[at] as TxnResponse);
    } catch (error) {
      this.#handleFailure(members, error);
    } finally {
      end();
      this.#inFlight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  /** Counts a batch as prompt until it ends or is slow. @returns a function to call when it ends */
  #countPrompt(): () => void {
    const over = new AbortController();
    this.#prompt += 1;
    let isPrompt = true;
    const end = () => {
      if (isPrompt) this.#prompt -= 1;
      isPrompt = false;
    };
    const handleSlow = () => {
      end();
      this.#sendWaiting();
    };
    this.#clock.sleep(SLOW_BATCH_MS, over.signal).then(handleSlow, () => {}); // rejected: the batch has ended
    return () => {
      end();
      over.abort(NO_LONGER_NEEDED);
    };
  }

  /** Commits a batch. Gives up when none of its callers waits any more. */
  async #commitBatch(members: readonly WaitingTxn[]): Promise<TxnResponse> {
    const stop = new AbortController();
    let left = members.length;
    const leave = () => {
      left -= 1;
      if (left === 0) stop.abort(new StoreError("unavailable", "no caller waits for the answer"));
    };
    for (const member of members) member.onLeave = leave;
    return await this.#store.commitTxn(buildBatchTxn(members), stop.signal);
  }

  #handleFailure(members: readonly WaitingTxn[], error: unknown): void {
    const isRefused = error instanceof StoreError && error.kind !== "unavailable";
    if (!isRefused || members.length === 1) for (const { answer } of members) answer.reject(error);
    else {
      const left = members.filter(({ signal }) => signal?.aborted !== true);
      for (const member of left) member.isAlone = true;
      this.#waiting.unshift(...left);
    }
  }
}

/**
 * Maximum number of transactions in a batch. Larger batches gain little, and etcd serves nothing else while it applies
 * one.
 */
export const MOST_MEMBERS = 64;
/** Maximum number of operations that etcd accepts in one request. */
export const MOST_OPERATIONS = 128;
/** Maximum length of a request, counted in characters. etcd accepts 1.5 MiB; a character takes up to three bytes. */
const MOST_BYTES = 256 * 1024;

/** A transaction that waits for a batch. */
interface BatchCandidate {
  readonly txn: Txn;
  /** Whether it must be sent by itself: a batch with it was refused. */
  readonly isAlone: boolean;
}

/**
 * Chooses the candidates of the next batch, in order. etcd applies nested transactions one after the other, but checks
 * the guards of all of them before it writes anything. So no member may touch a key that another one writes: a candidate
 * that conflicts with a member waits for a later batch. The first candidate is always chosen, so none waits forever.
 * @param findScope  returns the queue of a ticket's key: two tickets that one batch puts into a queue would have equal
 * `create_revision`, and neither would be ahead of the other
 * @returns the first candidate, and all others that fit
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

/** Estimates the length of a request for the transaction. */
export function computeRequestSize({ compare, success, failure }: Txn): number {
  const compared = compare.reduce((sum, { key }) => sum + key.length + OPERATION_OVERHEAD_BYTES, 0);
  return [...success, ...failure].reduce((sum, op) => sum + computeOpSize(op), compared);
}

/** Bytes of an operation besides key and value. */
const OPERATION_OVERHEAD_BYTES = 40;

function computeOpSize(op: Op): number {
  if (op.op === "txn") return computeRequestSize(op.txn) + OPERATION_OVERHEAD_BYTES;
  return op.key.length + (op.op === "put" ? op.value.length : 0) + OPERATION_OVERHEAD_BYTES;
}

/** Keys in order, so that those of a range are found by bisection. */
export class SortedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...keys].sort(compareKeys);
  }

  /** Adds a key. Duplicates are allowed. */
  add(key: string): void {
    this.#keys.splice(this.#findPlace(key), 0, key);
  }

  hasKeyIn({ key: start, rangeEnd }: Required<KeyRange>): boolean {
    const first = this.#keys[this.#findPlace(start)];
    return first !== undefined && first < rangeEnd;
  }

  /** Returns the index of the first key that is not before `key`. */
  #findPlace(key: string): number {
    return bisect(this.#keys.length, (at) => (this.#keys[at] as string) < key);
  }
}

/** A key has one character per byte, so the order of strings is etcd's order of keys. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns the range whose order a write of the key changes: the queue of a ticket. Undefined if only the key matters. */
type FindScope = (key: string) => Required<KeyRange> | undefined;

/** The keys that a transaction compares, reads or writes. */
interface TouchedKeys {
  /** Single keys that are compared or read. */
  readonly readKeys: ReadonlySet<string>;
  /** Ranges that are compared or read, by their bounds, so that equal ranges are found once. */
  readonly readRanges: ReadonlyMap<string, Required<KeyRange>>;
  readonly writtenKeys: ReadonlySet<string>;
  readonly writtenRanges: ReadonlyMap<string, Required<KeyRange>>;
}

/** Keys that are collected over several transactions. */
export class KeyCollection implements TouchedKeys {
  readonly readKeys = new Set<string>();
  readonly readRanges = new Map<string, Required<KeyRange>>();
  readonly writtenKeys = new Set<string>();
  readonly writtenRanges = new Map<string, Required<KeyRange>>();
  /** The written keys in order, to search hundreds of them for a range. Built on first use. */
  #sortedWritten: SortedKeys | undefined;
  readonly #findScope: FindScope;

  constructor(findScope: FindScope) {
    this.#findScope = findScope;
  }

  /** Adds all keys of a transaction, of both branches and of nested transactions. */
  add({ compare, success, failure }: Txn): this {
    for (const range of compare) this.#addRead(range);
    for (const op of success) this.#addOp(op);
    for (const op of failure) this.#addOp(op);
    return this;
  }

  merge(other: TouchedKeys): void {
    for (const key of other.readKeys) this.readKeys.add(key);
    for (const key of other.writtenKeys) this.#addWrittenKey(key);
    for (const [id, range] of other.readRanges) this.readRanges.set(id, range);
    for (const [id, range] of other.writtenRanges) this.writtenRanges.set(id, range);
  }

  /**
   * Returns whether either writes something that the other compares, reads or writes.
   * @param other  the smaller of the two: the time depends on its keys
   */
  conflictsWith(other: TouchedKeys): boolean {
    return this.#touchesWritesOf(other) || this.#writesReadsOf(other);
  }

  #touchesWritesOf({ writtenKeys, writtenRanges }: TouchedKeys): boolean {
    for (const key of writtenKeys) if (this.#reads(key) || this.#writes(key)) return true;
    for (const range of writtenRanges.values())
      if (this.#writesIn(range) || this.#readsIn(range)) return true;
    return false;
  }

  #writesReadsOf({ readKeys, readRanges }: TouchedKeys): boolean {
    for (const key of readKeys) if (this.#writes(key)) return true;
    for (const range of readRanges.values()) if (this.#writesIn(range)) return true;
    return false;
  }

  #reads(key: string): boolean {
    return this.readKeys.has(key) || isInAny(this.readRanges, key);
  }

  #writes(key: string): boolean {
    return this.writtenKeys.has(key) || isInAny(this.writtenRanges, key);
  }

  #readsIn(range: Required<KeyRange>): boolean {
    return containsAny(range, this.readKeys) || overlapsAny(this.readRanges, range);
  }

  #writesIn(range: Required<KeyRange>): boolean {
    this.#sortedWritten ??= new SortedKeys(this.writtenKeys);
    return this.#sortedWritten.hasKeyIn(range) || overlapsAny(this.writtenRanges, range);
  }

  #addWrittenKey(key: string): void {
    this.writtenKeys.add(key);
    this.#sortedWritten?.add(key);
  }

  #addOp(op: Op): void {
    if (op.op === "txn") this.add(op.txn);
    else if (op.op === "range") this.#addRead(op);
    else this.#addWrite(op);
  }

  #addRead(range: KeyRange): void {
    if (range.rangeEnd === undefined) this.readKeys.add(range.key);
    else addRange(this.readRanges, range.key, range.rangeEnd);
  }

  #addWrite({ key, rangeEnd }: KeyRange): void {
    const scope = rangeEnd === undefined ? this.#findScope(key) : undefined;
    if (scope !== undefined) addRange(this.writtenRanges, scope.key, scope.rangeEnd);
    else if (rangeEnd !== undefined) addRange(this.writtenRanges, key, rangeEnd);
    else this.#addWrittenKey(key);
  }
}

function addRange(ranges: Map<string, Required<KeyRange>>, key: string, rangeEnd: string): void {
  ranges.set(`${key}\0\0${rangeEnd}`, { key, rangeEnd });
}

function isInAny(ranges: ReadonlyMap<string, Required<KeyRange>>, key: string): boolean {
  for (const range of ranges.values()) if (isIn(range, key)) return true;
  return false;
}

function containsAny(range: Required<KeyRange>, keys: ReadonlySet<string>): boolean {
  for (const key of keys) if (isIn(range, key)) return true;
  return false;
}

function overlapsAny(
  ranges: ReadonlyMap<string, Required<KeyRange>>,
  { key, rangeEnd }: Required<KeyRange>,
): boolean {
  for (const other of ranges.values()) if (key < other.rangeEnd && other.key < rangeEnd) return true;
  return false;
}

function isIn({ key: start, rangeEnd }: Required<KeyRange>, key: string): boolean {
  return key >= start && key < rangeEnd;
}
