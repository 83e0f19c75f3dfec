/** How many outcomes a worker keeps in etcd, as the definition says. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import type { TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** Lists the minutes after the start that the history has, newest first. */
async function listMinutes() {
  const { runs } = await fixture.readOutcomes("job");
  return runs.map(({ scheduled }) => (scheduled - START) / MINUTE);
}

test.each([
  [{}, 20],
  [{ keep: 3 }, 3],
])("with %j, %i of many outcomes stay", async (limits, count) => {
  await fixture.add("job", limits);
  fixture.clock.set(START + 29 * MINUTE);
  await fixture.startWorker(returnOk).waitForOutcomes(30);
  expect(await listMinutes()).toEqual(Array.from({ length: count }, (_, n) => 29 - n));
});

test("with keepFor, an outcome goes when one is added that ended so much later", async () => {
  await fixture.add("job", { keepFor: 90_000 });
  const worker = fixture.startWorker(returnOk);
  for (const minute of [0, 1, 2, 3]) {
    fixture.clock.set(START + minute * MINUTE);
    await worker.waitForOutcomes(minute + 1);
  }
  expect(await listMinutes()).toEqual([3, 2]);
});

test("the limit applies where all occurrences are skipped, too", async () => {
  await fixture.add("job", { keep: 2, deadline: 1_000 });
  const worker = fixture.startWorker(returnOk);
  for (const minute of [0, 1, 2, 3]) {
    fixture.clock.set(START + minute * MINUTE + 30_000);
    await worker.waitFor("skipped", minute + 1);
  }
  expect(await listMinutes()).toEqual([3, 2]);
});

test("a changed limit counts from the next outcome on", async () => {
  const definition = await fixture.add("job");
  const worker = fixture.startWorker(returnOk);
  fixture.clock.set(START + 4 * MINUTE);
  await worker.waitForOutcomes(5);
  await fixture.put(fixture.keys.schedule("job"), JSON.stringify({ v: 1, ...definition, keep: 2 }));
  expect(await listMinutes()).toEqual([4, 3, 2, 1, 0]);
  fixture.clock.set(START + 6 * MINUTE);
  await worker.waitForOutcomes(7);
  expect(await listMinutes()).toEqual([6, 5]);
});

test("an occurrence whose leases are not granted is known to be due since its first start", async () => {
  await fixture.add("job", { leases: ["db=1"] });
  const answers: TaskResult[] = [
    { result: "released", wait: 1_000 },
    { result: "released", wait: 1_000 },
    { result: "ok" },
  ];
  const worker = fixture.startWorker(async () => answers.shift() ?? { result: "ok" });
  const readOpen = async () => {
    const { kvs } = await fixture.store.readRange({ key: fixture.keys.due("job") });
    return JSON.parse(kvs[0]?.value ?? "").open?.[0];
  };
  for (const count of [1, 2]) {
    await worker.waitForOutcomes(count);
    expect(await readOpen()).toMatchObject({ scheduled: START, refusedSince: START, attempt: 0 });
    fixture.clock.advance(1_000);
  }
  await worker.waitForOutcomes(3);
  expect(await readOpen()).toBeUndefined();
});
