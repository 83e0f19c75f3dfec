import { expect, test } from "vitest";
import { ManualClock } from "../../../../fixtures/manual-clock.ts";
import { OTHER, put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { CountingStore } from "../../../../fixtures/protocol/counting-store.ts";
import { createTicket, keys } from "../../../../fixtures/protocol/samples.ts";
import { createAttempt, createPorts, REQUESTS } from "../../../../fixtures/protocol/situations.ts";
import { NEVER } from "../../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { serializeTicket, type Ticket } from "../../../../src/core/protocol/ticket.ts";
import type { KeyRange, Txn, TxnResponse } from "../../../../src/core/protocol/txn.ts";
import { Acquisition } from "../../../../src/core/run/acquire.ts";

const UNLIMITED = { connect: NEVER, wait: NEVER };

/** Reads have no answer, as soon as a ticket was put. */
class SilentStore extends MemoryStore {
  readonly asked = Promise.withResolvers<void>();
  #hasPut = false;

  override async commitTxn(txn: Txn, signal?: AbortSignal): Promise<TxnResponse> {
    const answer = await super.commitTxn(txn, signal);
    if (this.#hasPut) return await this.#stayAway(signal);
    this.#hasPut = true;
    return answer;
  }

  override async readRange(range: KeyRange, signal?: AbortSignal) {
    return this.#hasPut ? await this.#stayAway(signal) : await super.readRange(range, signal);
  }

  #stayAway(signal?: AbortSignal): Promise<never> {
    this.asked.resolve();
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  }
}

test("a run that ends between the answer to its ticket and the first read of its queue has a ticket", async () => {
  const clock = new ManualClock();
  const store = new SilentStore(MemoryStore.create(clock).etcd);
  put(store.etcd, keys.lock("a", OTHER), serializeTicket(createTicket({ run: OTHER, state: "held" })));
  const attempt = await createAttempt(createPorts(clock, store), REQUESTS["lock, queue"]);
  const stop = new AbortController();
  const acquisition = new Acquisition(attempt, UNLIMITED, stop.signal);
  const acquired = acquisition.run();
  await store.asked.promise;
  stop.abort(new Error("left"));
  await expect(acquired).rejects.toThrow("left");
  expect(acquisition.mayHaveTickets).toBe(true);
});

test("a run that waits reads its queue once, and is granted when the run ahead has held the lock", async () => {
  const clock = new ManualClock();
  const store = new CountingStore(MemoryStore.create(clock).etcd);
  const [holder, next] = [OTHER, "next0next0next00"].map((run) => keys.lock("a", run)) as [string, string];
  const write = (key: string, state: Ticket["state"]) =>
    put(store.etcd, key, serializeTicket(createTicket({ run: key.slice(-16), state })));
  write(holder, "held");
  write(next, "waiting");
  const attempt = await createAttempt(createPorts(clock, store), REQUESTS["lock, queue"]);
  const acquired = new Acquisition(attempt, UNLIMITED, new AbortController().signal).run();
  await clock.advance(25_000); // its session is not renewed here
  expect(store.calls).toBeGreaterThan(3);
  remove(store.etcd, holder);
  write(next, "held");
  await clock.advance(1);
  const { calls } = store;
  remove(store.etcd, next);
  expect((await acquired).kind).toBe("granted");
  expect(store.queueReads).toBe(1);
  expect(store.calls - calls, "one reads that it is gone, one grants").toBe(2);
});
