/** Schedules that wait after the end of their last run, on a real etcd. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { MINUTE, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

const add = (change = {}) => fixture.add("job", { cron: "@after-end 5m", ...change });

/** Waits until the next run is planned. @returns how long after the end of the last one, ms */
const readWait = (runs: number) =>
  waitUntil(`the next run after ${runs}`, async () => {
    const { next, last, open } = await fixture.readDue("job");
    const ended = (await fixture.readOutcomes("job")).runs.length;
    return ended === runs && open.length === 0 && next !== undefined && last && next - last.endedAt;
  });

test("counts from the end, however the run has ended; a run by hand counts too", async () => {
  await add();
  const results: TaskResult["result"][] = ["ok", "failed", "timeout", "ok"];
  const worker = fixture.startWorker(async () => {
    fixture.clock.advance(17 * MINUTE);
    return { result: results.shift() ?? "ok" } as TaskResult;
  });
  for (const runs of [1, 2, 3]) {
    await worker.waitForOutcomes(runs);
    expect(await readWait(runs)).toBe(5 * MINUTE);
    fixture.clock.set((await fixture.readDue("job")).next ?? 0);
  }
  await worker.waitForOutcomes(4);
  expect(await readWait(4)).toBe(5 * MINUTE);
  const due = await fixture.readDue("job");
  const now = fixture.clock.getWallTime();
  const open = [{ scheduled: now, runAt: now, attempt: 0, failures: 0, kind: "trigger" } as const];
  await fixture.put(fixture.keys.due("job"), formatDue({ ...due, open }));
  await worker.waitForOutcomes(5);
  expect(await readWait(5)).toBe(5 * MINUTE);
});

test("a run that is tried again has not ended; a run whose worker dies is ended by the next one", async () => {
  await add({ retries: 1, backoff: 1_000 });
  const attempts: number[] = [];
  const gate = Promise.withResolvers<TaskResult>();
  const dying = fixture.startWorker(() => gate.promise);
  await waitUntil("it runs", async () => (await fixture.listRunning()).length === 1);
  expect((await fixture.readDue("job")).next).toBeUndefined();
  const stopped = dying.stop();
  gate.resolve({ result: "released" });
  await stopped;
  expect((await fixture.readDue("job")).next).toBeUndefined();
  const worker = fixture.startWorker(async ({ attempt }: ScheduledTask) => {
    attempts.push(attempt);
    return attempts.length === 1 ? { result: "failed" } : returnOk();
  });
  await worker.waitForOutcomes(1);
  expect((await fixture.readDue("job")).next).toBeUndefined();
  fixture.clock.advance(2_000);
  await worker.waitForOutcomes(2);
  const { next, last } = await waitUntil("the next one", async () => {
    const due = await fixture.readDue("job");
    return due.next !== undefined && due;
  });
  expect([attempts.length, (next ?? 0) - (last?.endedAt ?? 0)]).toEqual([2, 5 * MINUTE]);
});

test("a run that is given up because its workers vanish is an end", async () => {
  const { keys } = fixture;
  const open = [{ scheduled: START, runAt: START, attempt: 10, failures: 0, kind: "due" } as const];
  const definition = { cron: "@after-end 5m", timezone: "UTC" };
  const due = formatDue({ runAt: 0, open });
  await fixture.put(keys.schedule("job"), formatDefinition(definition), keys.due("job"), due);
  const worker = fixture.startWorker(returnOk);
  const [outcome] = await worker.waitForOutcomes(1);
  const { next } = await waitUntil("the next one", async () => {
    const state = await fixture.readDue("job");
    return state.next !== undefined && state;
  });
  expect([outcome?.result, (next ?? 0) - (outcome?.endedAt ?? 0)]).toEqual(["lost", 5 * MINUTE]);
});

test("a wait that is changed during the run counts when it ends", async () => {
  await add();
  const gate = Promise.withResolvers<TaskResult>();
  const worker = fixture.startWorker(() => gate.promise);
  await waitUntil("it runs", async () => (await fixture.listRunning()).length === 1);
  const changed = { cron: "@after-end 9m", timezone: "UTC" };
  const { keys } = fixture;
  await fixture.put(keys.schedule("job"), formatDefinition(changed));
  await fixture.put(keys.schedule("seen"), formatDefinition({ ...changed, cron: "@manual" }));
  await waitUntil("the worker has read it", () => fixture.readDue("seen").catch(() => false));
  gate.resolve(await returnOk());
  await worker.waitForOutcomes(1);
  expect(await readWait(1)).toBe(9 * MINUTE);
});
