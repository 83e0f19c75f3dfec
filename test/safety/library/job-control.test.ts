/** Reading, canceling and moving single jobs, their progress, their attempts, and the list of those that have ended. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  JobFailedError,
  NotFoundError,
  type Signalbox,
  UsageError,
  Worker,
} from "../../../src/library/index.ts";

const { test } = TestCluster.startForFile();

const KEPT = { keepResult: "10m" };
const pollTask = (one: Signalbox) => waitUntil("a task", () => one.schedules.poll());

describe.concurrent("get", () => {
  test("shows the state, the progress and the error of each attempt", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const inspected = Promise.withResolvers<void>();
    const worker = new Worker(one, {
      handlers: {
        resize: async ({ attempt, progress }) => {
          if (attempt < 3) throw Object.assign(new Error(`attempt ${attempt}`), { code: "EBUSY" });
          progress("half of it");
          await inspected.promise;
          return "done";
        },
      },
    });
    void worker.run();
    const { id, done } = await one.jobs.add("resize", { file: "a" }, { key: "a", backoff: 1, ...KEPT });
    expect(id).toBe("resize.a");
    const other = await connectLibrary(namespace);
    const job = await waitUntil("the progress", async () => {
      const read = await other.jobs.get(id);
      return read.progress === undefined ? undefined : read;
    });
    expect(job).toMatchObject({ state: "running", failures: 2, progress: "half of it", data: { file: "a" } });
    expect(job.attempts).toMatchObject([
      { attempt: 2, result: "failed", reason: "Error: attempt 2", errorCode: "EBUSY" },
      { attempt: 1, result: "failed", reason: "Error: attempt 1", errorCode: "EBUSY" },
    ]);
    expect(await other.jobs.list()).toMatchObject([{ id, progress: "half of it" }]);
    inspected.resolve();
    expect(await done()).toBe("done");
    const ended = await other.jobs.get(id);
    expect(ended).toMatchObject({ type: "resize", state: "succeeded", failures: 2 });
    expect(ended.attempts.map(({ result, value }) => [result, value])).toEqual([
      ["ok", "done"],
      ["failed", undefined],
      ["failed", undefined],
    ]);
    expect(await other.jobs.list({ state: "succeeded" })).toMatchObject([{ id }]);
    expect(await other.jobs.count()).toMatchObject({ succeeded: 1, running: 0 });
    const again = await one.jobs.add("resize", { file: "b" }, { key: "a", delay: "1h", ...KEPT });
    expect(await one.jobs.get(again.id)).toMatchObject({ state: "delayed", failures: 0, attempts: [] });
    await expect(one.jobs.get("resize.none")).rejects.toThrow(NotFoundError);
  });

  test("knows the type of a job that has ended, also with dots", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    void new Worker(one, { handlers: { "mail.send": () => 1 } }).run();
    const job = await one.jobs.add("mail.send", undefined, { key: "x.y", ...KEPT });
    await job.done();
    expect(await one.jobs.list({ type: "mail.send" })).toMatchObject([
      { id: "mail.send.x.y", state: "succeeded" },
    ]);
  });

  test("a job that says nothing is tried four times", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    void new Worker(one, { handlers: { work: () => Promise.reject(new Error("no")) } }).run();
    const job = await one.jobs.add("work", undefined, { key: "1", backoff: 1, ...KEPT });
    await expect(job.done()).rejects.toThrow("given up");
    expect(await one.jobs.get(job.id)).toMatchObject({ state: "dead", attempts: { length: 4 } });
  });
});

describe.concurrent("cancel", () => {
  test("aborts the signal of a running task, which does not run again", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    let starts = 0;
    void new Worker(one, {
      handlers: {
        work: async ({ signal }) => {
          starts += 1;
          started.resolve();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          aborted.resolve(signal.reason);
          signal.throwIfAborted();
        },
      },
    }).run();
    const job = await one.jobs.add("work", undefined, { key: "1", ...KEPT });
    await started.promise;
    const other = await connectLibrary(namespace);
    expect(await other.jobs.cancel(job.id, { reason: "not needed" })).toBe(true);
    expect(await other.jobs.cancel(job.id).catch((error: unknown) => error)).toSatisfy(
      (answer) => answer === false || answer instanceof NotFoundError, // it may have ended
    );
    expect(String(await aborted.promise)).toMatch(/canceled by .+@.+: not needed/);
    const error = await job.done().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({
      result: "canceled",
      message: expect.stringMatching(/was canceled by .+@/),
    });
    expect(await one.jobs.get(job.id)).toMatchObject({
      state: "canceled",
      attempts: [{ result: "canceled", reason: expect.stringContaining("not needed") }],
    });
    expect(await one.schedules.list()).toEqual([]);
    expect(starts).toBe(1);
  });

  test("removes a job that waits, and tells who waits for it", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", undefined, { delay: "1h", ...KEPT });
    const end = job.done().catch((reason: unknown) => reason);
    expect(await one.jobs.cancel(job.id)).toBe(true);
    expect(await end).toMatchObject({ code: "JOB_FAILED", result: "canceled" });
    expect(await one.jobs.list()).toMatchObject([{ id: job.id, type: "work", state: "canceled" }]);
    const plain = await one.jobs.add("work", undefined, { delay: "1h" });
    await one.jobs.cancel(plain.id);
    await expect(one.jobs.get(plain.id)).rejects.toThrow(NotFoundError);
    await expect(one.jobs.cancel(plain.id)).rejects.toThrow(NotFoundError);
    const { store, keys } = namespace;
    const { kvs } = await store.readRange(keys.outcomeHistories());
    expect(kvs.map(({ session }) => session > 0n)).toEqual([true]);
  });

  test("ends a retry, and keeps a success of a handler that ignores it", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", undefined, { key: "1", backoff: "1h", ...KEPT });
    await (await pollTask(one)).fail("no");
    expect(await one.jobs.get(job.id)).toMatchObject({ state: "retrying", failures: 1 });
    expect(await one.jobs.cancel(job.id)).toBe(true);
    expect(await one.jobs.get(job.id)).toMatchObject({ state: "canceled", failures: 1 });
    const next = await one.jobs.add("work", undefined, { key: "1", ...KEPT });
    const task = await pollTask(one);
    expect(await one.jobs.cancel(next.id)).toBe(true);
    expect(await one.jobs.cancel(next.id)).toBe(false);
    await waitUntil("the signal", () => task.signal.aborted || undefined);
    await task.finish("late");
    expect(await next.done()).toBe("late");
  });

  test("ends a polled task that fails afterwards, without another start", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", undefined, { key: "1", ...KEPT });
    const task = await pollTask(one);
    await one.jobs.cancel(job.id, { reason: "stop" });
    await waitUntil("the signal", () => task.signal.aborted || undefined);
    await task.fail("it was stopped");
    expect(await one.jobs.get(job.id)).toMatchObject({ state: "canceled", attempts: { length: 1 } });
  });

  test("a canceled job whose worker was lost is not started by another one", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", undefined, { key: "1", ...KEPT });
    const { store, keys } = namespace;
    const canceled = { by: "ann@web1", at: 2 };
    const open = [{ scheduled: 1, runAt: 1, attempt: 1, failures: 0, kind: "due", canceled }];
    await store.commitTxn({
      compare: [],
      success: [{ op: "put", key: keys.due(job.id), value: JSON.stringify({ v: 1, runAt: 0, open }) }],
      failure: [],
    });
    let starts = 0;
    const other = await connectLibrary(namespace);
    void new Worker(other, {
      handlers: {
        work: () => {
          starts += 1;
        },
      },
    }).run();
    await expect(job.done()).rejects.toThrow("canceled by ann@web1");
    expect(starts).toBe(0);
  });
});

describe.concurrent("move", () => {
  test("runs a delayed job and a retry at once, or later", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const job = await one.jobs.add("work", 1, { key: "1", delay: "1h", backoff: "1h" });
    await one.jobs.move(job.id, { delay: "2h" });
    expect(await one.schedules.poll()).toBeUndefined();
    await one.jobs.move(job.id);
    await (await pollTask(one)).fail("no");
    expect(await one.jobs.get(job.id)).toMatchObject({ state: "retrying" });
    await one.jobs.move(job.id);
    const task = await pollTask(one);
    expect([task.attempt, task.data]).toEqual([2, 1]);
    await expect(one.jobs.move(job.id)).rejects.toThrow(UsageError);
    await task.finish();
    await expect(one.jobs.move(job.id)).rejects.toThrow(NotFoundError);
    await expect(one.jobs.move(job.id, { at: 1, delay: 1 })).rejects.toThrow("exclude each other");
  });
});

test("operators see jobs with `ls jobs`, move and cancel them", async ({ namespace }) => {
  const one = await connectLibrary(namespace);
  await one.schedules.add("nightly", { cron: "@daily" });
  const job = await one.jobs.add("work", undefined, { key: "1", delay: "1h", ...KEPT });
  const { rows } = await namespace.executeJson("ls jobs");
  expect(rows).toMatchObject([{ schedule: "work.1" }]);
  await namespace.expectDone("schedule cancel work.1 --yes --reason wrong");
  expect(await one.jobs.get(job.id)).toMatchObject({
    state: "canceled",
    attempts: [{ reason: expect.stringMatching(/^canceled by .*@.*: wrong$/) }],
  });
  await namespace.expectDone("schedule cancel nightly");
  await one.jobs.add("work", undefined, { key: "2", delay: "1h" });
  await one.jobs.add("work", undefined, { key: "3", delay: "1h" });
  await namespace.expectDone("schedule move work.2 work.3 --to +2h");
  expect(await one.schedules.poll()).toBeUndefined();
  await namespace.expectDone("schedule move work.3 --yes");
  expect(await pollTask(one)).toMatchObject({ id: "work.3" });
  expect(await namespace.execute("schedule move work.3")).toFail(
    64,
    'nothing of "work.3" waits for a start: it runs',
  );
  expect(await namespace.execute("schedule move nightly")).toFail(
    64,
    'nothing of "nightly" waits for a start',
  );
  expect((await one.schedules.get("nightly")).nextTime).toBeInstanceOf(Date);
});
