/** A worker beside one of a version before, whose states do not say which worker has started what runs. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { isReading, omitStarters, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore } from "../../../src/core/etcd/store.ts";
import { listWorkersBefore } from "../../../src/schedule/hash.ts";
import type { TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();

test("what it runs is not started again, until its worker is gone", async () => {
  const early = new WorkerFixture(omitStarters(cluster.store));
  const { keys, clock } = early;
  let hasLooked = false;
  const looking = delegateStore(cluster.store, {
    commitTxn: async (txn, signal) => {
      const answer = await cluster.store.commitTxn(txn, signal);
      hasLooked ||= txn.compare.length === 0 && isReading(txn, keys.runnings().key);
      return answer;
    },
  });
  const late = new WorkerFixture(looking, clock, keys);
  const gate = Promise.withResolvers<TaskResult>();
  const before = early.startWorker(() => gate.promise);
  const first = await before.waitUntilJoined();
  const after = late.startWorker(() => gate.promise); // later, so that it knows the one before from its start on
  const second = await after.waitUntilJoined();
  const isFirst = (id: string) => listWorkersBefore(second, [first, second], id).length === 1;
  const id = Array.from({ length: 100 }, (_, n) => `job${n}`).find(isFirst) ?? "";
  await early.add(id, {}, { start: START });
  await before.waitFor("started");
  expect((await early.readDue(id)).open[0]?.session).not.toHaveProperty("worker");

  // In steps: the other worker's turn begins when the watch has shown it the start, and that can be after a step.
  await waitUntil("the other one looks whether it runs", () => {
    clock.advance(1_000);
    return hasLooked;
  });
  clock.advance(120_000);
  await late.add(`${id}.later`, {}, { start: START });
  await waitUntil("one of them runs what came later", async () => (await early.listRunning()).length === 2);
  const listStarts = () =>
    [before, after].flatMap((one) => one.list("started")).filter((one) => one.id === id);
  expect(listStarts()).toHaveLength(1);

  await early.revokeSession(keys.worker(first));
  await waitUntil("it starts again", () => listStarts().length > 1);
  expect(
    listStarts()
      .map(({ attempt }) => attempt)
      .sort(),
  ).toEqual([1, 2]);
  gate.resolve({ result: "ok" });
  await early.close();
  await late.close();
});
