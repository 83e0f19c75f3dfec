import type { Clock } from "../../base/clock.ts";
import { OVER } from "../../base/over.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { KeyRange, Txn, TxnResponse } from "../../protocol/txn.ts";
import { delegateStore } from "../delegate-store.ts";
import { type Store, StoreError } from "../store.ts";
import type { FindScope } from "./touched-keys.ts";
import {
  type BatchCandidate,
  buildBatchTxn,
  chooseBatch,
  MOST_MEMBERS,
  splitResponse,
} from "./transaction-batch.ts";

/**
 * When a batch has no answer after this time, ms, the transactions that wait for it are sent beside it: one call that
 * hangs must not hold up the others.
 */
const SLOW = 100;
/** Batches on their way at a time. */
const MOST_AT_ONCE = 2;

/**
 * Combines transactions that are committed at the same time into one request: one raft entry instead of many. A
 * transaction is sent at once while no other is on its way; those that arrive meanwhile go together. Each is guarded by
 * itself, and succeeds or fails by itself.
 *
 * Those that only read go separately: whether a claim still exists must not be known later because writes hang, as they do for
 * seconds where a leader was lost with them.
 *
 * If etcd does not answer a batch, each member gets `unavailable` and finds out for itself whether it was applied, as
 * after a call of its own. If etcd refuses a batch (a missing permission, no space), each member is sent by itself.
 * @param runSoon  runs an action when all that has arrived is handled, without waiting for anything to come
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
  /** Called when the caller does not wait any more. */
  onLeave: (() => void) | undefined;
}

class TransactionCombiner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #runSoon: (action: () => void) => void;
  readonly #findScope: FindScope;
  #waiting: WaitingTxn[] = [];
  /** Batches on their way, without those that are slow. */
  #prompt = 0;
  #underWay = 0;
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
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiting.push(waiting);
    this.#schedule();
    try {
      return await waiting.answer.promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Sends after what has arrived already, for example the calls of many launchers, so that its transactions go together. */
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
      this.#waiting = this.#waiting.filter((one) => !members.has(one));
      void this.#send([...members]);
    }
  }

  #canSend(): boolean {
    const isFull = this.#waiting.length >= MOST_MEMBERS;
    return this.#underWay < MOST_AT_ONCE && (this.#prompt === 0 || isFull);
  }

  async #send(members: readonly WaitingTxn[]): Promise<void> {
    this.#underWay += 1;
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
      this.#underWay -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  /** Counts a batch as prompt until it has ended or is slow. @returns ends the count */
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
    this.#clock.sleep(SLOW, over.signal).then(handleSlow, () => {}); // rejected: the batch has ended
    return () => {
      end();
      over.abort(OVER);
    };
  }

  /** Commits a batch, as long as one of its callers waits. */
  async #commitBatch(members: readonly WaitingTxn[]): Promise<TxnResponse> {
    const stop = new AbortController();
    let left = members.length;
    const leave = () => {
      left -= 1;
      if (left === 0) stop.abort(new StoreError("unavailable", "nobody waits for the answer"));
    };
    for (const one of members) one.onLeave = leave;
    return await this.#store.commitTxn(buildBatchTxn(members), stop.signal);
  }

  #handleFailure(members: readonly WaitingTxn[], error: unknown): void {
    const isRefused = error instanceof StoreError && error.kind !== "unavailable";
    if (!isRefused || members.length === 1) for (const { answer } of members) answer.reject(error);
    else {
      const left = members.filter(({ signal }) => signal?.aborted !== true);
      for (const one of left) one.isAlone = true;
      this.#waiting.unshift(...left);
    }
  }
}
