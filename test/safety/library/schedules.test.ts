/** Schedules of the library: the calls and errors of PerfectSched. */

import { setTimeout as pause } from "node:timers/promises";
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { translated } from "../../../src/library/connection.ts";
import {
  AlreadyExistsError,
  AlreadyFinishedError,
  ConfigError,
  CronError,
  NotFoundError,
  NotSupportedError,
  PreemptedError,
  type Signalbox,
  UsageError,
  Worker,
  type WorkerOptions,
} from "../../../src/library/index.ts";
import { getConnection } from "../../../src/library/signalbox.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const connectTo = (namespace = cluster.createNamespace()) => connectLibrary(namespace);

/** An hourly schedule whose first four occurrences are due, and its first task. */
async function createDueTask(namespace: TestNamespace) {
  const one = await connectTo(namespace);
  const hour = 3_600_000;
  const start = Math.floor(Date.now() / hour - 3) * hour;
  await one.schedules.add("a.b", { catchup: "all", cron: "@hourly", start, data: { n: 1 } });
  return { one, task: await pollTask(one), start };
}

const pollTask = (one: Signalbox) => waitUntil("a task", () => one.schedules.poll());

describe.concurrent("schedules of the library", () => {
  test("are added, read, changed, listed, paused and deleted", async () => {
    const { schedules } = await connectTo();
    const start = new Date("2030-01-01T12:00:00Z");
    const added = await schedules.add("b", {
      cron: "0 3 * * *",
      timezone: "Asia/Tokyo",
      delay: "30s",
      start,
    });
    expect(added).toMatchObject({
      id: "b",
      type: "b",
      cron: "0 3 * * *",
      timezone: "Asia/Tokyo",
      delay: 30_000,
      data: undefined,
      nextTime: new Date("2030-01-01T18:00:00Z"),
      nextRunTime: new Date("2030-01-01T18:00:30Z"),
      isPaused: false,
      last: undefined,
    });
    await schedules.add("a.x", { cron: "@yearly", data: [1, { b: null }] });
    expect((await schedules.list()).map(({ id, type }) => [id, type])).toEqual([
      ["a.x", "a"],
      ["b", "b"],
    ]);
    expect((await schedules.get("a.x")).data).toEqual([1, { b: null }]);
    const { definition } = await schedules.modify("b", { delay: null, type: "c", jitter: "1m" });
    expect(definition).toEqual({ cron: "0 3 * * *", timezone: "Asia/Tokyo", type: "c", jitter: 60_000 });
    const kept = await schedules.modify("b", { keep: 5, keepFor: "7d" });
    expect(kept.definition).toMatchObject({ keep: 5, keepFor: 604_800_000 });
    await expect(schedules.modify("b", { keep: 101 })).rejects.toThrow(
      'keep "101" is not a whole number from 1 to 100',
    );
    await schedules.pause("b", { reason: "moving", until: "2040-01-01T00:00Z" });
    expect((await schedules.get("b")).isPaused).toBe(true);
    await schedules.resume("b");
    expect((await schedules.get("b")).isPaused).toBe(false);
    await schedules.delete("b");
    expect((await schedules.list()).map(({ id }) => id)).toEqual(["a.x"]);
  });

  test("tell errors apart by class and code", async () => {
    const { schedules } = await connectTo();
    await schedules.add("a", { cron: "@daily" });
    const catchError = (call: Promise<unknown>) => call.then(String, (reason) => reason);
    const exists = await catchError(schedules.add("a", { cron: "@daily" }));
    expect(exists).toBeInstanceOf(AlreadyExistsError);
    expect(exists).toMatchObject({ code: "ALREADY_EXISTS" });
    for (const call of ["get", "delete", "pause", "resume", "trigger"] as const)
      expect(await catchError(schedules[call]("b")), call).toBeInstanceOf(NotFoundError);
    expect(await catchError(schedules.modify("b", {}))).toMatchObject({ code: "NOT_FOUND" });
    expect(await catchError(schedules.add("b", { cron: "61 * * * *" }))).toBeInstanceOf(CronError);
    expect(await catchError(schedules.add("", { cron: "@daily" }))).toBeInstanceOf(UsageError);
    const typo = await catchError(schedules.modify("a", { timezon: "UTC" } as object));
    expect(typo).toBeInstanceOf(ConfigError);
    expect(typo).toMatchObject({ code: "CONFIG", message: expect.stringMatching(/"timezon".*"timezone"/) });
    expect(await catchError(schedules.add("b", { cron: "@daily", delay: -1 }))).toBeInstanceOf(ConfigError);
    expect(await catchError(schedules.add("b", { cron: "@daily", start: "soon" }))).toBeInstanceOf(
      ConfigError,
    );
    expect(await catchError(schedules.add("b", { cron: "@daily", data: () => 1 }))).toBeInstanceOf(
      NotSupportedError,
    );
    expect(await catchError(schedules.add("b", { cron: "@daily", data: 1n }))).toMatchObject({
      code: "NOT_SUPPORTED",
    });
  });

  test("are polled in the order of their times, and go on from the scheduled time", async () => {
    const { one, task, start } = await createDueTask(cluster.createNamespace());
    expect(task).toMatchObject({ id: "a.b", type: "a", data: { n: 1 }, attempt: 1 });
    expect(task.scheduledTime.getTime()).toBe(start);
    expect(await one.schedules.poll()).toBeUndefined();
    await task.finish();
    const second = await pollTask(one);
    expect(second.scheduledTime.getTime() - start).toBe(3_600_000);
    expect(BigInt(second.token)).toBeGreaterThan(BigInt(task.token));
    await second.release();
    const again = await pollTask(one);
    expect([again.scheduledTime, again.attempt]).toEqual([second.scheduledTime, 1]);
    await again.retry("1h");
    expect((await one.schedules.get("a.b")).last).toMatchObject({ result: "retry" });
  });

  test("a task is finished once, and not by a worker that has lost it", async ({ namespace }) => {
    const { one, task } = await createDueTask(namespace);
    await task.finish();
    await expect(task.finish()).rejects.toBeInstanceOf(AlreadyFinishedError);
    await expect(task.retry()).rejects.toMatchObject({ code: "ALREADY_FINISHED" });
    await expect(task.heartbeat()).rejects.toBeInstanceOf(AlreadyFinishedError);
    const second = await pollTask(one);
    await namespace.delete(namespace.keys.running("a.b"));
    await expect(second.heartbeat()).rejects.toBeInstanceOf(PreemptedError);
    await expect(second.finish()).rejects.toMatchObject({ code: "PREEMPTED" });
  });

  test("a task whose schedule was deleted cannot be finished, nor kept alive", async ({ namespace }) => {
    const { one, task } = await createDueTask(namespace);
    await one.schedules.delete("a.b");
    await expect(task.heartbeat()).rejects.toBeInstanceOf(NotFoundError);
    await expect(task.finish()).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining('"a.b" was deleted'),
    });
    const left = (await namespace.listKeys()).map(({ key }) => namespace.keys.parse(key).kind);
    expect(left.filter((kind) => kind !== "audit" && kind !== "worker")).toEqual([]);
  });

  test("poll() sees what the same connection has just added, triggered or changed", async () => {
    const { schedules } = await connectTo();
    expect(await schedules.poll()).toBeUndefined(); // the source is open, and follows
    for (let round = 0; round < 20; round += 1) {
      const id = `r${round}`;
      await schedules.add(id, { cron: "@yearly", start: "2020-01-01", catchup: "latest" });
      const added = await schedules.poll();
      expect(added?.id).toBe(id);
      await added?.finish();
      await schedules.trigger(id);
      const triggered = await schedules.poll();
      expect(triggered?.id).toBe(id);
      await triggered?.finish();
      await schedules.delete(id);
    }
  });

  test("a polled task that was finished does not see its signal aborted", async ({ namespace }) => {
    const { one, task } = await createDueTask(namespace);
    await task.finish();
    const other = await pollTask(one);
    await namespace.delete(namespace.keys.running("a.b"));
    await one.close();
    expect(task.signal.aborted).toBe(false);
    expect(other.signal.aborted).toBe(false); // it was given back in good order, not lost
  });

  test("a task without a heartbeat is another's after its time, one with heartbeats is not", async ({
    namespace,
  }) => {
    const { task } = await createDueTask(namespace);
    await task.release();
    const source = await (await connectTo(namespace)).schedules.open({ aliveTime: "1s" });
    const kept = await waitUntil("a task", () => source.poll());
    for (let beat = 0; beat < 3; beat += 1) {
      await pause(400);
      await kept.heartbeat();
      expect(await source.poll()).toBeUndefined();
    }
    const other = await waitUntil("it is given back", () => source.poll());
    expect(other.scheduledTime).toEqual(kept.scheduledTime);
    await expect(kept.finish()).rejects.toBeInstanceOf(PreemptedError);
    await other.finish();
  });

  test("schedules with a command of their own are left to workers", async () => {
    const { schedules } = await connectTo();
    for (const [id, command] of Object.entries({ command: ["true"], function: undefined }))
      await schedules.add(id, { cron: "@yearly", ...(command && { command }) });
    for (const id of ["command", "function"]) await schedules.trigger(id);
    expect((await waitUntil("a task", () => schedules.poll())).id).toBe("function");
    expect(await schedules.poll()).toBeUndefined();
  });

  test("what is polled and not finished is given back when the connection closes", async ({ namespace }) => {
    const { one, task } = await createDueTask(namespace);
    await one.close();
    expect((await pollTask(await connectTo(namespace))).scheduledTime).toEqual(task.scheduledTime);
  });
});

describe.concurrent("a worker of the library", () => {
  async function startWorker(namespace: TestNamespace, options: WorkerOptions) {
    const one = await connectTo(namespace);
    const worker = new Worker(one, { ttl: "5s", terminationTimeout: 100, ...options });
    const running = worker.run();
    return { one, worker, running };
  }

  test("runs handlers by type, and survives those that fail", async ({ namespace }) => {
    const seen: string[] = [];
    const { one, worker, running } = await startWorker(namespace, {
      handlers: {
        bad: () => {
          throw new TypeError("no");
        },
        "/^g/": (task) => {
          seen.push(`${task.id} ${task.attempt}`);
          if (seen.length === 1) task.retry(10);
        },
        lost: (task) => new Promise(() => task.signal.throwIfAborted()),
      },
    });
    const { schedules } = one;
    for (const id of ["bad", "good", "unknown"]) await schedules.add(id, { cron: "@yearly" });
    await schedules.add("lost", { cron: "@yearly", timeout: 50 });
    for (const id of ["bad", "good", "unknown", "lost"]) await schedules.trigger(id);
    const formatResults = async () =>
      (await schedules.list()).map(({ id, last }) => `${id}: ${last?.result ?? "-"}`).join(", ");
    const wanted = "bad: failed, good: ok, lost: timeout, unknown: -";
    await waitUntil(wanted, async () => (await formatResults()) === wanted);
    expect(seen).toEqual(["good 1", "good 2"]);
    await worker.stop();
    await running;
  });

  test("aborts its tasks with typed errors, and says what is too large for etcd", async () => {
    const reasons: unknown[] = [];
    const closing = Promise.withResolvers<void>();
    const { one, running } = await startWorker(cluster.createNamespace(), {
      handlers: {
        "/./": ({ id, signal }) => {
          if (id === "closed") closing.resolve();
          return new Promise((_, reject) =>
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              reject(signal.reason);
            }),
          );
        },
      },
    });
    const { schedules, jobs } = one;
    const large = jobs.add("big", "x".repeat(2_000_000));
    await expect(large).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("bytes"),
    });
    const { store, keys } = getConnection(one).ports;
    const put = { op: "put", key: keys.schedule("x"), value: "x".repeat(2_000_000) } as const;
    const call = translated(() => store.commitTxn({ compare: [], success: [put], failure: [] }));
    await expect(call).rejects.toMatchObject({ code: "TOO_LARGE", cause: { kind: "tooLarge" } });
    await schedules.add("late", { cron: "@manual", timeout: 50 });
    await schedules.trigger("late");
    await waitUntil("its end", async () => (await schedules.get("late")).last?.result === "timeout");
    await schedules.add("closed", { cron: "@manual" });
    await schedules.trigger("closed");
    await closing.promise;
    await one.close();
    await running;
    expect(reasons).toMatchObject([
      { name: "TimeoutError", code: "TIMEOUT", message: "the task's timeout of 50ms has passed" },
      { name: "ClosedError", code: "CLOSED", cause: { name: "TaskLost" } },
    ]);
  });

  test("lets its tasks end when it is stopped, and gives them back when its connection closes", async ({
    namespace,
  }) => {
    const gate = Promise.withResolvers<void>();
    const started = { slow: Promise.withResolvers<void>(), heard: Promise.withResolvers<void>() };
    const first = await startWorker(namespace, {
      handlers: {
        slow: () => {
          started.slow.resolve();
          return gate.promise;
        },
      },
    });
    const { schedules } = first.one;
    for (const id of ["slow", "heard"]) await schedules.add(id, { cron: "@yearly" });
    await schedules.trigger("slow");
    await started.slow.promise;
    const stopped = first.worker.stop();
    gate.resolve();
    await Promise.all([stopped, first.running]);
    expect((await schedules.get("slow")).last).toMatchObject({ result: "ok" });
    const second = await startWorker(namespace, {
      handlers: {
        heard: ({ signal }) => {
          started.heard.resolve();
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      },
    });
    await schedules.trigger("heard");
    await started.heard.promise;
    await second.one.close();
    await second.running;
    expect((await schedules.get("heard")).last).toMatchObject({ result: "released" });
  });

  test("the signal of a task that succeeded is never aborted afterwards", async ({ namespace }) => {
    const signals: AbortSignal[] = [];
    const { one, worker, running } = await startWorker(namespace, {
      handlers: { well: ({ signal }) => void signals.push(signal) },
    });
    await one.schedules.add("well", { cron: "@yearly" });
    for (let round = 1; round <= 5; round += 1) {
      await one.schedules.trigger("well");
      await waitUntil("it has ended", async () => signals.length === round && worker.running === 0);
    }
    await one.close();
    await running;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false, false]);
  });

  test("is told what is wrong with its options", async () => {
    const one = await connectTo();
    expect(() => new Worker(one, { handlers: {}, concurency: 2 } as WorkerOptions)).toThrow(
      'unknown option "concurency" of Worker; did you mean "concurrency"?',
    );
    const createInvalidWorker = (options: unknown) => () => new Worker(one, options as WorkerOptions);
    expect(createInvalidWorker({ handlers: { "/(/": () => {} } })).toThrow(ConfigError);
    expect(createInvalidWorker({ handlers: { a: 1 } })).toThrow(/"a".*not a function/);
    expect(createInvalidWorker({ handlers: {}, concurrency: 0 })).toThrow("concurrency: 0");
    expect(createInvalidWorker({ handlers: {}, ttl: "1500ms" })).toThrow("ttl");
    expect(() => new Worker({} as Signalbox, { handlers: {} })).toThrow(UsageError);
  });
});
