/** Results and failures of jobs, also over a lost connection, and lists of jobs by state. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  ClosedError,
  JobFailedError,
  NotFoundError,
  NotSupportedError,
  type Signalbox,
  type TaskHandler,
  TooLargeError,
  UsageError,
  Worker,
} from "../../../src/library/index.ts";

const { test } = TestCluster.startForFile();

/** Connects, and starts a worker that closes with the namespace. */
async function startWorker(namespace: TestNamespace, handlers: Record<string, TaskHandler>) {
  const one = await connectLibrary(namespace);
  void new Worker(one, { handlers }).run();
  return one;
}

const pollTask = (one: Signalbox) => waitUntil("a task", () => one.schedules.poll());
const KEPT = { keepResult: "10m" };

describe.concurrent("done", () => {
  test("resolves with what the handler returned, also long after the end and for another program", async ({
    namespace,
  }) => {
    const one = await startWorker(namespace, {
      sum: (task) => Promise.resolve({ sum: (task.data as number[]).reduce((a, b) => a + b) }),
      nothing: () => {},
    });
    const other = await connectLibrary(namespace);
    const job = await one.jobs.add("sum", [1, 2, 3], KEPT);
    expect(await job.done<{ sum: number }>()).toEqual({ sum: 6 });
    expect(await one.schedules.list()).toEqual([]);
    expect(await other.jobs.done(job.id)).toEqual({ sum: 6 });
    expect(await job.done()).toEqual({ sum: 6 });
    expect(await (await one.jobs.add("nothing", undefined, KEPT)).done()).toBeUndefined();
  });

  test("leaves the outcome on a session, so that it expires", async ({ namespace }) => {
    const one = await startWorker(namespace, { one: () => 1 });
    const jobs = await one.jobs.addMany(Array.from({ length: 5 }, () => ({ type: "one", ...KEPT })));
    expect(await Promise.all(jobs.map((job) => job.done()))).toEqual([1, 1, 1, 1, 1]);
    const { store, keys } = namespace;
    const { kvs } = await store.readRange(keys.outcomeHistories());
    const sessions = new Set(kvs.map(({ session }) => session));
    expect([kvs.length, sessions.size]).toEqual([5, 1]);
    const [session = 0n] = sessions;
    expect((await store.readTimeToLive(session))?.ttl).toBe(660);
  });

  test("rejects with the failure, its code and its stack, after the last retry", async ({ namespace }) => {
    const one = await startWorker(namespace, {
      send: function sendTheMail(task) {
        throw Object.assign(new TypeError(`no route\nto ${task.attempt}`), { code: "EHOSTUNREACH" });
      },
    });
    const job = await one.jobs.add("send", 1, { key: "a", retries: 1, backoff: 1, ...KEPT });
    const error = await job.done().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({
      code: "JOB_FAILED",
      result: "failed",
      message: 'job "send.a" was given up: TypeError: no route to 2',
      cause: { code: "EHOSTUNREACH", stack: expect.stringContaining("sendTheMail") },
    });
    const again = await one.jobs.add("send", 1, { key: "a" });
    expect(again).toMatchObject({ isNew: false, isDead: true });
    await expect(again.done()).rejects.toThrow("no route");
  });

  test("of a job that was replaced waits for the new one", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.jobs.add("work", 1, { key: "a", ...KEPT });
    const first = await pollTask(one);
    const job = await one.jobs.add("work", 2, { key: "a", ifExists: "replace", ...KEPT });
    await first.finish("first");
    const second = await pollTask(one);
    await second.finish("second");
    expect(await job.done()).toBe("second");
  });

  test("of a job with a key that was done and added again has the result of its own run", async ({
    namespace,
  }) => {
    const one = await startWorker(namespace, { work: ({ data }) => data });
    for (let n = 1; n <= 20; n += 1) {
      const job = await one.jobs.add("work", n, { key: "a", ...KEPT });
      expect([job.isNew, await job.done()]).toEqual([true, n]);
    }
  });

  test("tells that a result is too large, or not JSON, and the job is done once all the same", async ({
    namespace,
  }) => {
    let starts = 0;
    const one = await startWorker(namespace, {
      large: () => {
        starts += 1;
        return "x".repeat(20_000);
      },
      map: () => {
        starts += 1;
        return { a: new Map() };
      },
    });
    const large = await one.jobs.add("large", 1, { retries: 3, ...KEPT });
    await expect(large.done()).rejects.toThrow(TooLargeError);
    await expect(large.done()).rejects.toThrow("has 20002 bytes, and at most 16384 are kept");
    const map = await one.jobs.add("map", 1, { retries: 3, ...KEPT });
    await expect(map.done()).rejects.toThrow(NotSupportedError);
    await expect(map.done()).rejects.toThrow("result.a: JSON cannot represent a Map");
    expect([starts, await one.schedules.list()]).toEqual([2, []]);
  });

  test("has the results and errors of polled tasks", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const [good, bad] = await one.jobs.addMany([
      { type: "good", ...KEPT },
      { type: "bad", retries: 0, ...KEPT },
    ]);
    for (const _ of [1, 2]) {
      const task = await pollTask(one);
      await expect(task.finish("x".repeat(20_000))).rejects.toThrow(TooLargeError);
      if (task.type === "good") await task.finish([1]);
      else await task.fail(Object.assign(new Error("no"), { code: "E_NO" }));
    }
    expect(await good?.done()).toEqual([1]);
    await expect(bad?.done()).rejects.toMatchObject({ cause: { code: "E_NO" } });
  });

  test("rejects for a job that was deleted, is unknown, keeps no result, or is too late", async ({
    namespace,
  }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", 1, { delay: "1h", ...KEPT });
    const waiting = expect(job.done()).rejects.toThrow(NotFoundError);
    await one.schedules.delete(job.id);
    await waiting;
    await expect(one.jobs.done("work.unknown")).rejects.toThrow(NotFoundError);
    const other = await one.jobs.add("work", 1, { delay: "1h" });
    await expect(other.done()).rejects.toThrow(UsageError);
    const late = await one.jobs.add("late", 1, {
      at: Date.now() - 60_000,
      deadline: "1s",
      ...KEPT,
    });
    await startWorker(namespace, { late: () => 1 });
    await expect(late.done()).rejects.toMatchObject({ code: "JOB_FAILED", result: "skipped" });
  });

  test("ends with its signal, and with the connection", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", 1, { delay: "1h", ...KEPT });
    const reason = new Error("enough");
    await expect(job.done({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const waiting = expect(job.done()).rejects.toThrow(ClosedError);
    await one.close();
    await waiting;
    await expect(job.done()).rejects.toThrow(ClosedError);
  });
});

test("done survives a connection that is lost while the job ends", async ({ namespace }) => {
  const proxy = await namespace.startProxy();
  const one = await connectLibrary(namespace, { endpoints: [proxy.url] });
  const other = await connectLibrary(namespace);
  const job = await one.jobs.add("work", 1, KEPT);
  let ended = false;
  const waiting = job.done().finally(() => {
    ended = true;
  });
  const task = await pollTask(other);
  proxy.mode = "refuse";
  proxy.reset();
  await task.finish({ n: 1 });
  await waitUntil("the end of the job", async () => (await other.schedules.list()).length === 0);
  expect(ended).toBe(false);
  proxy.mode = "forward";
  expect(await waiting).toEqual({ n: 1 });
});

test("jobs are listed and counted by their state, and schedules are not", async ({ namespace }) => {
  const one = await connectLibrary(namespace);
  await one.schedules.add("work.daily", { cron: "@daily" });
  await one.schedules.add("once", { cron: "@at 2099-01-01T00:00Z" });
  await one.jobs.addMany([
    { type: "retry", key: "a", retries: 3, backoff: "1h" },
    { type: "fail", key: "a", retries: 0 },
  ]);
  for (const _ of [1, 2]) await (await pollTask(one)).fail("no");
  await one.jobs.add("run", 1, { key: "a" });
  await pollTask(one);
  await one.jobs.addMany([
    { type: "work", key: "soon", delay: "1h", data: [1] },
    { type: "work", key: "now" },
    { type: "work", key: "held" },
  ]);
  await one.schedules.pause("work.held");
  expect(await one.jobs.count()).toEqual({
    delayed: 1,
    waiting: 1,
    running: 1,
    retrying: 1,
    paused: 1,
    dead: 1,
    succeeded: 0,
    canceled: 0,
  });
  expect(await one.jobs.count({ type: "work" })).toMatchObject({ delayed: 1, waiting: 1, dead: 0 });
  const jobs = await one.jobs.list();
  expect(jobs.map(({ id, state, failures }) => [id, state, failures])).toEqual([
    ["fail.a", "dead", 0],
    ["retry.a", "retrying", 1],
    ["run.a", "running", 0],
    ["work.held", "paused", 0],
    ["work.now", "waiting", 0],
    ["work.soon", "delayed", 0],
  ]);
  const [delayed] = await one.jobs.list({ state: "delayed" });
  expect(delayed).toMatchObject({ id: "work.soon", type: "work", data: [1] });
  expect(delayed?.runTime?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
  await expect(one.jobs.list({ state: "gone" } as object)).rejects.toThrow('"gone" is none of delayed');
});

test("a job that was due during a pause runs after it; one that has no run left is not waited for", async ({
  namespace,
}) => {
  const one = await connectLibrary(namespace);
  const held = await one.jobs.add("work", 1, KEPT);
  await one.schedules.pause(held.id);
  await one.schedules.resume(held.id);
  await (await pollTask(one)).finish();
  await held.done();
  const ended = await one.jobs.add("work", 1, { delay: "1h", ...KEPT });
  const done = ended.done();
  await one.schedules.modify(ended.id, { end: "2020-01-01T00:00Z" });
  await expect(done).rejects.toThrow(NotFoundError);
});

test("a job that fails is started again as its retries say", async ({ namespace }) => {
  let starts = 0;
  const one = await startWorker(namespace, {
    work: () => {
      starts += 1;
      throw new Error("no");
    },
  });
  const job = await one.jobs.add("work", 1, { retries: 0, ...KEPT });
  await expect(job.done()).rejects.toThrow("no");
  expect([starts, (await one.jobs.count()).dead]).toEqual([1, 1]);
});
