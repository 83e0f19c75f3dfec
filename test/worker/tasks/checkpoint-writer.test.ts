/** Checkpoints whose writes etcd applies twice, late, or without an answer. */
import { expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { isPutting, SettableClock, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore, type Store, StoreError } from "../../../src/core/etcd/store.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();

/** How writes of checkpoints reach etcd. `earlier`: those before. */
type Delivery = (
  write: () => Promise<unknown>,
  earlier: readonly (() => Promise<unknown>)[],
) => Promise<void>;

const loseAnswer: Delivery = async (write, earlier) => {
  await write();
  if (earlier.length === 0) throw new StoreError("unavailable", "the answer is lost");
};
const repeatEarlier: Delivery = async (write, earlier) => {
  await write();
  for (const one of earlier) await one();
};
/** The first write never gets an answer: it is applied when the second one is on its way. */
const deliverLate: Delivery = async (write, earlier) => {
  if (earlier.length === 0) throw new StoreError("noSpace", "refused, but a copy is on its way");
  if (earlier.length === 1) await earlier[0]?.();
  await write();
};

test.each([
  ["without an answer, and again", loseAnswer, []],
  ["once more after the next one", repeatEarlier, []],
  ["just before the next one", deliverLate, ["a"]],
])("a write that etcd applies %s does not undo the next one", async (_name, deliver, refused) => {
  const keys = createKeys(`/${crypto.randomUUID()}/`);
  const earlier: (() => Promise<unknown>)[] = [];
  const commitTxn: Store["commitTxn"] = async (txn: Txn, signal) => {
    if (!isPutting(txn, `${keys.prefix}checkpoints/`)) return await cluster.store.commitTxn(txn, signal);
    const before = [...earlier];
    const write = () => cluster.store.commitTxn(txn);
    earlier.push(write);
    let answer: ReturnType<typeof write> | undefined;
    await deliver(() => (answer = write()), before);
    return await (answer ?? write());
  };
  const store = delegateStore(cluster.store, { commitTxn });
  const fixture = new WorkerFixture(store, new SettableClock(START), keys);
  onTestFinished(() => fixture.close());
  await fixture.add("job", { cron: "0 0 1 1 *", retries: 1, backoff: 1 }, { at: START });
  const faults: string[] = [];
  const worker = fixture.startWorker(async (task) => {
    if (task.attempt === 2) return { result: "ok", reason: task.checkpoint ?? "none" };
    for (const text of ["a", "b"]) await task.saveCheckpoint(text).catch(() => faults.push(text));
    return { result: "failed" };
  });
  const outcomes = await worker.waitForOutcomes(2);
  expect(faults).toEqual(refused);
  expect(outcomes[1]).toMatchObject({ result: "ok", reason: "b" });
  expect(
    await fixture.readValue(keys.checkpoint("job", undefined, outcomes[1]?.scheduled ?? 0)),
  ).toBeUndefined();
});
