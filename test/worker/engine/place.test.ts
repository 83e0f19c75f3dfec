/** Schedules for the least loaded host: several workers on a real etcd, whose measures the test sets. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { listWorkersBefore } from "../../../src/schedule/hash.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
/** The host of each start. */
let started: string[];
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
  fixture.clock.set(START - 60_000);
  started = [];
});
afterEach(() => fixture.close());

const PLACED = { place: "least-loaded" } as const;
const COUNT = 20;

function startWorker(host: string, load: number, concurrency = 100) {
  const run = async ({ signal }: ScheduledTask): Promise<TaskResult> => {
    started.push(host);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { result: "released" };
  };
  const measure = (name: string) => (name === "load" ? load : 1);
  return fixture.startWorker(run, { host, measure, concurrency });
}

/** Starts workers, adds schedules, and lets them become due at the same time. */
async function startAll(workers: readonly { waitUntilJoined(): Promise<string> }[], count = COUNT) {
  for (const worker of workers) await worker.waitUntilJoined();
  for (let n = 0; n < count; n += 1) await fixture.add(`job${n}`, PLACED);
  fixture.clock.set(START);
  await waitUntil("all", () => started.length === count);
}

const countOn = (host: string) => started.filter((one) => one === host).length;

test("the idle one of two hosts starts nearly all", async () => {
  await startAll([startWorker("busy", 9), startWorker("idle", 0)]);
  expect(countOn("idle")).toBeGreaterThanOrEqual(0.9 * COUNT);
});

test("tasks fill the slots of idle hosts evenly, also if one worker is the first one for all", async () => {
  const workers = [startWorker("a", 0, 8), startWorker("b", 0, 8)];
  const ids = await Promise.all(workers.map((worker) => worker.waitUntilJoined()));
  const names = Array.from({ length: 1_000 }, (_, n) => `job${n}`);
  const first = names.filter((name) => listWorkersBefore(ids[0] ?? "", ids, name).length === 0).slice(0, 8);
  for (const name of first) await fixture.add(name, PLACED);
  fixture.clock.set(START);
  await waitUntil("all", () => started.length === 8);
  expect(countOn("a")).toBeLessThanOrEqual(5);
});

test("what an idle host does not claim, a busy one starts", async () => {
  const idle = startWorker("idle", 0, 1);
  const busy = startWorker("busy", 9);
  await startAll([idle, busy], 5);
  expect([countOn("idle"), countOn("busy")]).toEqual([1, 4]);
});
