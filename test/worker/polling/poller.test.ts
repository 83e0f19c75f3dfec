/** Polling with the semantics of PerfectSched, on a real etcd with a wall clock that the test sets. */

import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { MINUTE, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { PreemptedError } from "../../../src/schedule/errors.ts";
import type { PolledTask } from "../../../src/worker/polling/polled-task.ts";
import type { Poller } from "../../../src/worker/polling/poller.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** What others did comes by the watch: polls until there is something. */
async function pollUntilTask(from: Poller) {
  for (;;) {
    const task = await from.poll();
    if (task !== undefined) return task;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const getScheduled = (task: PolledTask | undefined) => task?.claimed.running.scheduled;

test("where a later schema version is required, nothing can be polled", async () => {
  const poller = await fixture.openPoller();
  await fixture.put(fixture.keys.schema("0002"), "");
  const refusal = { exitCode: 78, message: expect.stringContaining("schema version 2") };
  await expect(pollUntilTask(poller)).rejects.toMatchObject(refusal);
  await expect(fixture.openPoller()).rejects.toMatchObject(refusal);
});

describe("take", () => {
  test("those due longest come first", async () => {
    await fixture.add("b", {}, { start: START - MINUTE });
    await fixture.add("a", {}, { start: START });
    await fixture.add("c", { delay: 1_000 }, { start: START - 2 * MINUTE });
    const from = await fixture.openPoller();
    const ids = [await from.poll(), await from.poll(), await from.poll(), await from.poll()];
    expect(ids.map((task) => task?.claimed.id)).toEqual(["c", "b", "a", undefined]);
  });

  test("what is taken is invisible, for its taker and for others", async () => {
    await fixture.add("job");
    const [one, two] = [await fixture.openPoller(), await fixture.openPoller()];
    expect(await one.poll()).toBeDefined();
    fixture.clock.advance(10 * MINUTE);
    expect([await one.poll(), await two.poll()]).toEqual([undefined, undefined]);
  });

  test("of two who poll at once, one gets it", async () => {
    await fixture.add("job");
    const both = await Promise.all([fixture.openPoller(), fixture.openPoller()]);
    const tasks = await Promise.all(both.map((one) => one.poll()));
    expect(tasks.filter((task) => task !== undefined)).toHaveLength(1);
  });
});

test("alive time: with a session that is gone, another gets it, and the first is told at the next word", async () => {
  await fixture.add("job");
  const [one, two] = [await fixture.openPoller(), await fixture.openPoller()];
  const first = await one.poll();
  await fixture.revokeSession(fixture.keys.running("job"));
  const second = await pollUntilTask(two);
  expect(getScheduled(second)).toBe(START);
  expect(BigInt(second.claimed.token)).toBeGreaterThan(first?.claimed.token ?? 0n);
  const lost = first?.signal ?? AbortSignal.abort();
  if (!lost.aborted) await once(lost, "abort");
  expect(lost.reason).toMatchObject({ code: "PREEMPTED", cause: expect.any(Error) });
  await expect(first?.sendHeartbeat()).rejects.toThrow(PreemptedError);
  await expect(first?.finish()).rejects.toThrow(PreemptedError);
  await second.finish();
  expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE, open: [] });
});

test("finish, retry, release: retry: the same occurrence, after its wait", async () => {
  await fixture.add("job");
  const from = await fixture.openPoller();
  await (await from.poll())?.retry();
  fixture.clock.advance(290_000);
  expect(await from.poll()).toBeUndefined();
  fixture.clock.advance(11_000);
  const again = await from.poll();
  expect(getScheduled(again)).toBe(START);
  await again?.finish();
  expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE });
});
