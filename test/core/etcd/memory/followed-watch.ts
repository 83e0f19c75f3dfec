import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { getRevision } from "../../../../fixtures/etcd/store-calls.ts";
import { type Store, StoreError } from "../../../../src/core/etcd/store.ts";
import type { WatchBatch, WatchRequest } from "../../../../src/core/protocol/txn.ts";

/** How long a watch may take to deliver, ms. */
const PATIENCE = 30_000;

/** A watch of one range. It keeps what it delivers. */
export class FollowedWatch {
  readonly #request: WatchRequest;
  readonly #stop = new AbortController();
  readonly #batches: WatchBatch[] = [];
  #error: unknown;
  #wake = () => {};

  constructor(store: Store, request: WatchRequest) {
    this.#request = request;
    void this.#follow(store);
  }

  /** Ends it with the events of a revision. @returns its batches, or `{ error }` with the kind of the error that ended it before */
  async endWith(revision: bigint): Promise<readonly WatchBatch[] | { error: string }> {
    const late = pause(PATIENCE, "late", { ref: false, signal: this.#stop.signal }).catch(() => {});
    const hasAll = () =>
      this.#batches.some(({ events }) => events.some((event) => getRevision(event) >= revision));
    while (!hasAll() && this.#error === undefined) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if ((await Promise.race([woken, late])) === "late")
        throw new Error(`nothing at ${revision} within ${PATIENCE} ms: ${inspect(this.#request)}`);
    }
    this.#stop.abort();
    if (this.#error === undefined) return this.#batches;
    if (this.#error instanceof StoreError) return { error: this.#error.kind };
    throw this.#error;
  }

  async #follow(store: Store): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const batch of store.watch(this.#request, signal)) {
        this.#batches.push(batch);
        this.#wake();
      }
    } catch (error) {
      if (!signal.aborted) this.#error = error;
      this.#wake();
    }
  }
}
