import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { createServedSubject } from "../../../../fixtures/etcd/served-subject.ts";
import { combineTransactions } from "../../../../src/core/etcd/combined-store.ts";
import { MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../../src/core/process/clock.ts";
import { createKeys } from "../../../../src/core/protocol/keys.ts";
import type { Txn } from "../../../../src/core/protocol/txn.ts";
import { testStoreContract } from "../contract/index.ts";

const clock = createRealClock();
const keys = createKeys("/signalbox/");

for (const transport of ["http", "grpc"] as const)
  testStoreContract(`combined transactions over ${transport}`, async () => {
    const subject = await createServedSubject(transport);
    return { ...subject, store: combineTransactions(subject.store, clock, keys) };
  });

const put = (key: string): Txn => ({
  compare: [{ key, target: "mod", is: "equal", value: 0n }],
  success: [{ op: "put", key, value: "" }],
  failure: [{ op: "range", key }],
});

/** A store whose answers the test gives. */
function createHeldStore(commit: (txn: Txn) => Promise<unknown> = async () => {}) {
  const memory = MemoryStore.create(clock);
  const sent: { txn: Txn; signal: AbortSignal | undefined; answer: PromiseWithResolvers<void> }[] = [];
  const held = {
    commitTxn: async (txn: Txn, signal?: AbortSignal) => {
      const answer = Promise.withResolvers<void>();
      sent.push({ txn, signal, answer });
      signal?.addEventListener("abort", () => answer.reject(signal.reason));
      await answer.promise;
      await commit(txn);
      return memory.commitTxn(txn);
    },
  };
  const store = combineTransactions(Object.assign(MemoryStore.create(clock), held), clock, keys);
  const sizes = () => sent.map(({ txn }) => Math.max(1, txn.success.filter(({ op }) => op === "txn").length));
  const waitForSizes = (...expected: number[]) => vi.waitFor(() => expect(sizes()).toEqual(expected));
  /** Answers the nth of what is sent, when it is. */
  const answer = async (at: number) => {
    await vi.waitFor(() => expect(sent.length).toBeGreaterThan(at));
    sent[at]?.answer.resolve();
  };
  const commitPuts = (...names: string[]) => names.map((key) => store.commitTxn(put(key)));
  return { store, sent, sizes, waitForSizes, answer, commitPuts, memory };
}

describe("transactions that are committed at the same time", () => {
  it("go together, and one that is alone goes at once and as it is", async () => {
    const { store, sent, waitForSizes, answer, commitPuts } = createHeldStore();
    const first = store.commitTxn(put("a"));
    await waitForSizes(1);
    expect(sent[0]?.txn).toEqual(put("a"));
    const more = commitPuts("b", "c", "d");
    await answer(0);
    await first;
    await waitForSizes(1, 3);
    await answer(1);
    const answers = await Promise.all(more);
    expect(new Set(answers.map(({ revision }) => revision)).size).toBe(1);
    expect(answers.map(({ succeeded }) => succeeded)).toEqual([true, true, true]);
  });

  it("of one task go together from the first on", async () => {
    const { waitForSizes, answer, commitPuts } = createHeldStore();
    const all = commitPuts("a", "b", "c");
    await waitForSizes(3);
    await answer(0);
    await Promise.all(all);
  });

  it("succeed and fail each by itself", async () => {
    const { answer, commitPuts, memory } = createHeldStore();
    await memory.commitTxn(put("b"));
    const all = commitPuts("a", "b", "c");
    await answer(0);
    const answers = await Promise.all(all);
    expect(answers.map(({ succeeded }) => succeeded)).toEqual([true, false, true]);
    expect(answers[1]?.results[0]).toMatchObject({ op: "range", count: 1 });
  });

  it("wait no longer than a moment for a call that hangs, and all hang if two do", async () => {
    const { store, waitForSizes, answer } = createHeldStore();
    const hanging = store.commitTxn(put("a"));
    await waitForSizes(1);
    const second = store.commitTxn(put("b"));
    await waitForSizes(1, 1);
    await answer(1);
    expect((await second).succeeded).toBe(true);
    await answer(0);
    await hanging;
  });

  it("wait for no write that hangs if they only read, and go together", async () => {
    const { store, waitForSizes, answer } = createHeldStore();
    const hanging = [store.commitTxn(put("a"))];
    await waitForSizes(1);
    hanging.push(store.commitTxn(put("b")));
    await waitForSizes(1, 1);
    hanging.push(store.commitTxn(put("c")));
    const read = (key: string): Txn => ({ compare: [], success: [{ op: "range", key }], failure: [] });
    const nested: Txn = { compare: [], success: [{ op: "txn", txn: read("y") }], failure: [] };
    const reads = [read("x"), nested].map((txn) => store.commitTxn(txn));
    await waitForSizes(1, 1, 2);
    await answer(2);
    await Promise.all(reads);
    for (const at of [0, 1, 3]) await answer(at);
    await Promise.all(hanging);
  });

  it("that put tickets into one queue go one after the other, so that the tickets have an order", async () => {
    const { waitForSizes, answer, commitPuts } = createHeldStore();
    const tickets = ["r1", "r2"].map((run) => keys.lock("x", `${run}${"0".repeat(14)}`));
    const all = commitPuts(...tickets, keys.lock("y", "r30000000000000"));
    await waitForSizes(2);
    await answer(0);
    await waitForSizes(2, 1);
    await answer(1);
    const [first, second, other] = (await Promise.all(all)).map(({ revision }) => revision);
    expect(second).toBeGreaterThan(first as bigint);
    expect(other).toBe(first);
  });

  it("each get the error of a batch that is not answered", async () => {
    const { store, sent, sizes, waitForSizes } = createHeldStore();
    const all = ["a", "b"].map((key) => store.commitTxn(put(key)).catch((error: unknown) => error));
    await waitForSizes(2);
    const error = new StoreError("unavailable", "no answer");
    sent[0]?.answer.reject(error);
    expect(await Promise.all(all)).toEqual([error, error]);
    expect(sizes()).toEqual([2]);
  });

  it("are sent one by one when etcd refuses the batch, and only the refused one fails", async () => {
    const refusal = new StoreError("permission", "not b");
    const { store, sizes, answer } = createHeldStore(async (txn) => {
      if (inspect(txn, { depth: null }).includes("'b'")) throw refusal;
    });
    const all = ["a", "b", "c"].map((key) => store.commitTxn(put(key)).catch((error: unknown) => error));
    for (let at = 0; at < 4; at += 1) await answer(at);
    const [a, b, c] = await Promise.all(all);
    expect([a, c]).toMatchObject([{ succeeded: true }, { succeeded: true }]);
    expect(b).toBe(refusal);
    expect(sizes()).toEqual([3, 1, 1, 1]);
  });

  it("that are given up leave at once: from the queue, from a batch, and the last one ends the call", async () => {
    const { store, sent, waitForSizes, answer } = createHeldStore();
    const stops = ["a", "b", "c"].map(() => new AbortController());
    const first = store.commitTxn(put("x"));
    await waitForSizes(1);
    const all = stops.map((stop, at) =>
      store.commitTxn(put(`k${at}`), stop.signal).catch((error: unknown) => error),
    );
    const reasons = stops.map((_, at) => new Error(`given up ${at}`));
    stops[0]?.abort(reasons[0]);
    expect(await all[0]).toBe(reasons[0]);
    await answer(0);
    await first;
    await waitForSizes(1, 2);
    stops[1]?.abort(reasons[1]);
    expect(await all[1]).toBe(reasons[1]);
    expect(sent[1]?.signal?.aborted).toBe(false);
    stops[2]?.abort(reasons[2]);
    expect(await all[2]).toBe(reasons[2]);
    expect(sent[1]?.signal?.aborted).toBe(true);
    await expect(store.commitTxn(put("y"), stops[0]?.signal)).rejects.toBe(reasons[0]);
  });
});
