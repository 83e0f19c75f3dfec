/** Schedules with conditions on the host: several workers on a real etcd, whose measures the test sets. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { parseOutcomes } from "../../../src/schedule/state/outcome.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
let loads: Record<string, number>;
/** How often each host was measured. */
let counts: Record<string, number>;
/** What started, as `HOST MINUTE`. */
let started: string[];
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
  loads = {};
  counts = {};
  started = [];
});
afterEach(() => fixture.close());

const measureOn = (host: string) => (name: string) => {
  counts[host] = (counts[host] ?? 0) + 1;
  return name === "load" ? loads[host] : undefined;
};

function startWorker(
  host: string,
  load: number,
  run: (task: ScheduledTask) => Promise<TaskResult> = returnOk,
) {
  loads[host] = load;
  const record = (task: ScheduledTask) => {
    started.push(`${host} ${(task.scheduled - START) / MINUTE}`);
    return run(task);
  };
  return fixture.startWorker(record, { host, measure: measureOn(host) });
}

/** Waits until a host has been measured since now. */
async function waitForCheck(host: string, times = 1): Promise<void> {
  const before = counts[host] ?? 0;
  await waitUntil(`check on ${host}`, () => (counts[host] ?? 0) >= before + times);
}

const IDLE = { if: ["load < 2"] };

describe("an occurrence with a condition", () => {
  test("runs on a host that fulfils it, also if that worker is not the first one", async () => {
    for (let n = 0; n < 6; n += 1) await fixture.add(`job${n}`, IDLE);
    startWorker("busy", 9);
    startWorker("idle", 1);
    await waitUntil("all", () => started.length === 6);
    expect(new Set(started)).toEqual(new Set(["idle 0"]));
  });

  test("is skipped when its deadline has passed, with the reason; the next one is not started either", async () => {
    await fixture.add("job", { ...IDLE, deadline: 90_000 });
    const worker = startWorker("busy", 9);
    await waitForCheck("busy");
    fixture.clock.set(START + 80_000);
    await waitForCheck("busy");
    expect((await fixture.readOutcomes("job")).runs).toEqual([]);
    fixture.clock.set(START + 90_002);
    const [skipped] = await worker.waitFor("skipped");
    const reason = 'on busy, condition "load < 2" does not hold: load is 9';
    expect(skipped).toMatchObject({ outcome: { scheduled: START, count: 1, reason } });
    expect((await fixture.readOutcomes("job")).runs).toMatchObject([{ result: "skipped", reason }]);
    expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE, open: [] });
    await waitForCheck("busy");
    expect(started).toEqual([]);
    loads.busy = 1;
    await waitUntil("start", () => started.length === 1);
    expect(started).toEqual(["busy 1"]);
  });

  test("waits when it is retried, too", async () => {
    await fixture.add("job", { ...IDLE, retries: 1, backoff: 1 });
    const worker = startWorker("host", 1, async () => {
      loads.host = 9;
      return { result: started.length === 1 ? "failed" : "ok" };
    });
    await worker.waitForOutcomes(1);
    await waitForCheck("host");
    expect(started).toEqual(["host 0"]);
    loads.host = 1;
    await worker.waitForOutcomes(2);
    expect(started).toEqual(["host 0", "host 0"]);
  });

  test("does not end the run that it replaces before it can start itself", async () => {
    await fixture.add("job", { ...IDLE, overlap: "replace" });
    const ended: string[] = [];
    startWorker("host", 1, async ({ signal }) => {
      loads.host = 9;
      if (started.length === 2) return returnOk();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      ended.push(String((signal.reason as Error).message));
      return { result: "replaced" };
    });
    await waitUntil("first", () => started.length === 1);
    fixture.clock.advance(MINUTE);
    await waitForCheck("host");
    expect(ended).toEqual([]);
    loads.host = 1;
    await waitUntil("second", () => started.length === 2);
    expect(ended).toEqual(["the next one is due"]);
    expect(started).toEqual(["host 0", "host 1"]);
  });

  test("on every host: each host has its own reason and its own time", async () => {
    fixture.clock.set(START - 30_000);
    await fixture.add("job", { ...IDLE, on: "every-host", deadline: 30_000 });
    const workers = [startWorker("web1", 1), startWorker("web2", 9)];
    await Promise.all(workers.map((worker) => worker.waitUntilJoined()));
    const hosts = fixture.keys.getHostStateRanges("job").dues;
    await waitUntil("states", async () => (await fixture.store.readRange(hosts)).kvs.length === 2);
    fixture.clock.set(START + 100);
    await waitForCheck("web2");
    fixture.clock.set(START + 31_000);
    const key = fixture.keys.outcomes("job", "web2");
    const readRuns = async () => parseOutcomes((await fixture.store.readRange({ key })).kvs[0]?.value).runs;
    await waitUntil("skipped", async () => (await readRuns()).length === 1);
    expect(await readRuns()).toMatchObject([
      { result: "skipped", host: "web2", reason: expect.stringMatching(/^on web2, .*load is 9$/) },
    ]);
    expect(started).toEqual(["web1 0"]);
  });

  test("that cannot be measured does not start there", async () => {
    await fixture.add("job", { ...IDLE, deadline: 1_000 });
    const measure = () => {
      throw new ConfigError("this host does not measure load");
    };
    const worker = fixture.startWorker(returnOk, { host: "bare", measure });
    await worker.waitUntilJoined();
    fixture.clock.set(START + 1_002);
    await waitUntil("skipped", async () => (await fixture.readOutcomes("job")).runs.length === 1);
    const { runs } = await fixture.readOutcomes("job");
    expect(runs).toMatchObject([{ reason: "on bare, this host does not measure load" }]);
  });
});

test("a program that polls gets what its host fulfils only", async () => {
  loads.host = 9;
  await fixture.add("job", IDLE);
  const poller = await fixture.openPoller({ host: "host", measure: measureOn("host") });
  expect(await poller.poll()).toBeUndefined();
  expect(counts.host).toBe(1);
  expect(await poller.poll()).toBeUndefined();
  expect(counts.host, "it is not measured at each poll").toBe(1);
  loads.host = 1;
  fixture.clock.advance(10_000);
  const task = await poller.poll();
  expect(task?.claimed.running.scheduled).toBe(START);
});
