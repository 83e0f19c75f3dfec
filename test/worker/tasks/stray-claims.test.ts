/** A claim that etcd has refused, and of which a late copy is applied when nothing refuses it any more. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  isPutting,
  isReading,
  returnOk,
  SettableClock,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { waitForAbort } from "../../../src/core/base/clock.ts";
import { delegateStore, type Store } from "../../../src/core/etcd/store.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();
const keys = createKeys(`/${crypto.randomUUID()}/`);

/** Refuses the first claim by a drain, removes the drain, and applies a copy of the claim. */
function applyRefusedClaimLate(store: Store) {
  let isFirst = true;
  return delegateStore(store, {
    commitTxn: async (txn: Txn, signal) => {
      if (!isPutting(txn, keys.runnings().key) || !isFirst) return await store.commitTxn(txn, signal);
      isFirst = false;
      const drain = keys.drain("lock", "elsewhere");
      await store.commitTxn({ compare: [], success: [{ op: "put", key: drain, value: "{}" }], failure: [] });
      const refused = await store.commitTxn(txn, signal);
      await store.commitTxn({ compare: [], success: [{ op: "delete", key: drain }], failure: [] });
      await store.commitTxn(txn, signal);
      return refused;
    },
  });
}

test("a worker gives the occurrence back, and runs it", async () => {
  const fixture = new WorkerFixture(applyRefusedClaimLate(cluster.store), new SettableClock(START), keys);
  await fixture.add("job", { cron: "0 0 1 1 *" }, { at: START });
  const worker = fixture.startWorker(returnOk);
  const [outcome] = await worker.waitForOutcomes(1);
  expect(outcome).toMatchObject({ result: "ok", attempt: 1 });
  expect((await fixture.readOutcomes("job")).runs).toMatchObject([
    { result: "ok" },
    { result: "released", reason: "a late copy of a refused claim was applied" },
  ]);
  expect(await fixture.listRunning()).toEqual([]);
  await fixture.delete(keys.schedule("job"), keys.due("job"), keys.outcomes("job"));
  await fixture.close();
});

test("a program that polls gives it back, and gets it", async () => {
  const fixture = new WorkerFixture(applyRefusedClaimLate(cluster.store), new SettableClock(START), keys);
  await fixture.add("polled", { cron: "0 0 1 1 *" }, { at: START });
  const poller = await fixture.openPoller();
  let task = await poller.poll();
  expect(task).toBeUndefined();
  while (task === undefined) {
    await new Promise(setImmediate);
    task = await poller.poll();
  }
  expect(task.claimed.running).toMatchObject({ attempt: 1 });
  await task.finish();
  await fixture.close();
});

test("what a state shows is looked for no longer when the program has left: it could not end", async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const unanswered = delegateStore(cluster.store, {
    commitTxn: async (txn: Txn, signal = new AbortController().signal) => {
      if (txn.compare.length > 0 || !isReading(txn, keys.runnings().key))
        return await cluster.store.commitTxn(txn, signal);
      asked.resolve(signal);
      await waitForAbort(signal);
      throw signal.reason;
    },
  });
  const fixture = new WorkerFixture(unanswered, new SettableClock(START), keys);
  await fixture.add("left", { cron: "0 0 1 1 *" }, { at: START });
  const poller = await fixture.openPoller();
  const task = await poller.poll();
  const { kvs } = await fixture.store.readRange({ key: keys.due("left") });
  await task?.finish();
  await fixture.put(keys.due("left"), kvs[0]?.value ?? ""); // as a late copy of the claim would
  const signal = await asked.promise;
  await poller.close();
  await waitForAbort(signal);
  await fixture.close();
});
