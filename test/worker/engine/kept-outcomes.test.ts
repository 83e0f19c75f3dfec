/** How many outcomes a worker keeps in etcd, as the definition says. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TaskResult } from "../../../src/worker/handler.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../worker-fixture.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** Lists the minutes after the start that the history has, newest first. */
async function listMinutes(): Promise<number[]> {
  const { runs } = await fixture.readOutcomes("job");
  return runs.map(({ scheduled }) => (scheduled - START) / MINUTE);
}

test.each([
  [{}, 20],
  [{ keep: 3 }, 3],
  [{ keep: 25 }, 25],
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

test("the limits apply to skipped occurrences too, and not to dead letters", async () => {
  await fixture.add("job", { keep: 1, catchup: "latest" });
  const worker = fixture.startWorker(async (): Promise<TaskResult> => ({ result: "failed" }));
  for (const minute of [5, 10, 15]) {
    fixture.clock.set(START + minute * MINUTE);
    await worker.waitForOutcomes(minute / 5);
  }
  expect(await listMinutes()).toEqual([15]);
  expect((await fixture.readOutcomes("job")).dead).toHaveLength(3);
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

test("whether a failure is the first one is known although only one outcome stays", async () => {
  await fixture.add("job", { keep: 1, keepFor: 0 });
  const results: TaskResult["result"][] = ["failed", "retry", "failed", "ok"];
  const worker = fixture.startWorker(async () => ({ result: results.shift() ?? "ok", wait: 1 }));
  fixture.clock.set(START + 2 * MINUTE);
  await worker.waitForOutcomes(4);
  const ended = worker.events.flatMap((event) => (event.kind === "ended" ? [event] : []));
  expect(ended.map(({ outcome: { result }, wasFailing }) => [result, wasFailing])).toEqual([
    ["failed", false],
    ["retry", true],
    ["failed", true],
    ["ok", true],
  ]);
});
