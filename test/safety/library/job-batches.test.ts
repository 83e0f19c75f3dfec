/** Batches of jobs, jobs that replace others, and queues that run one job at a time. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { delegateStore, StoreError } from "../../../src/core/etcd/store.ts";
import { type Signalbox, UsageError, Worker } from "../../../src/library/index.ts";
import { getConnection } from "../../../src/library/signalbox.ts";

const { test } = TestCluster.startForFile();

/** Counts the transactions that write, and can lose the answer of one. */
function watchWrites(one: Signalbox) {
  const { ports } = getConnection(one);
  const { store } = ports;
  /** `lost`: the number of the one whose answer is lost. */
  const writes = { count: 0, lost: 0 };
  ports.store = delegateStore(store, {
    async commitTxn(txn, signal) {
      const answer = await store.commitTxn(txn, signal);
      if (txn.compare.length === 0) return answer;
      writes.count += 1;
      if (writes.count !== writes.lost) return answer;
      throw new StoreError("unavailable", "the answer is lost");
    },
  });
  return writes;
}

/** Starts a worker that closes with the namespace. */
function startWorker(namespace: TestNamespace, worker: Pick<Worker, "run" | "close">) {
  namespace.onClose(() => worker.close());
  void worker.run();
}

const listIds = async (one: Signalbox) => (await one.schedules.list()).map(({ id }) => id);
const countJobs = async (one: Signalbox) => (await one.schedules.list()).length;
const pollTask = (one: Signalbox) => waitUntil("a task", () => one.schedules.poll());

describe.concurrent("jobs that are added at the same time", () => {
  const addAll = (one: Signalbox, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => one.jobs.add("mail", { n })));

  test("are few transactions, and each has its own receipt", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const writes = watchWrites(one);
    const receipts = await addAll(one, 700);
    expect(writes.count).toBe(3); // the first one alone, then at most 500
    expect(await listIds(one)).toEqual(receipts.map(({ id }) => id).sort());
    const { id } = await pollTask(one);
    expect(receipts.map((receipt) => receipt.id)).toContain(id);
  });

  test("are added once if the answer to all is lost", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const writes = watchWrites(one);
    writes.lost = 2; // the first job is added alone
    await addAll(one, 51);
    expect([writes.count, await countJobs(one)]).toEqual([3, 51]);
  });

  test("do not wait for one that etcd does not answer", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const { ports } = getConnection(one);
    const { store } = ports;
    const answered = Promise.withResolvers<void>();
    let isFirst = true;
    ports.store = delegateStore(store, {
      async commitTxn(txn, signal) {
        if (txn.compare.length > 0 && isFirst) {
          isFirst = false;
          await answered.promise;
        }
        return await store.commitTxn(txn, signal);
      },
    });
    const first = one.jobs.add("mail");
    await addAll(one, 50);
    expect(await countJobs(one)).toBe(50);
    answered.resolve();
    await first;
    expect(await countJobs(one)).toBe(51);
  });

  test("are added one by one if etcd accepts less at once; only what is too large is refused", async ({
    namespace,
  }) => {
    const one = await connectLibrary(namespace);
    const { ports } = getConnection(one);
    const { store } = ports;
    ports.store = delegateStore(store, {
      async commitTxn(txn, signal) {
        const text = JSON.stringify(txn.success, (_, value) => (typeof value === "bigint" ? "" : value));
        if (text.length > 5_000) throw new StoreError("tooLarge", "etcdserver: request is too large");
        return await store.commitTxn(txn, signal);
      },
    });
    const large = one.jobs.add("mail", "x".repeat(6_000));
    const results = await Promise.allSettled([addAll(one, 50), large]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await expect(large).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(await countJobs(one)).toBe(50);
  });

  test("are all refused if the connection is closed", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.close();
    const ends = await Promise.allSettled([one.jobs.add("mail"), one.jobs.add("mail")]);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});

describe.concurrent("a batch of jobs", () => {
  test("of a thousand is one transaction", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const writes = watchWrites(one);
    const jobs = Array.from({ length: 1_000 }, (_, n) => ({ type: "mail", data: { n } }));
    const receipts = await one.jobs.addMany(jobs);
    expect(writes.count).toBe(1);
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(1_000);
    expect(receipts.every(({ isNew, isDead }) => isNew && !isDead)).toBe(true);
    expect(await countJobs(one)).toBe(1_000);
    expect((await pollTask(one)).type).toBe("mail");
  });

  test("with keys is added once: a second call adds what is missing", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const writes = watchWrites(one);
    const jobs = Array.from({ length: 150 }, (_, n) => ({ type: "mail", data: n, key: String(n) }));
    await one.jobs.addMany(jobs.slice(0, 100));
    expect(writes.count).toBe(2); // sixty keys each
    const receipts = await one.jobs.addMany(jobs);
    expect(receipts.map(({ isNew }) => isNew)).toEqual(jobs.map((_, n) => n >= 100));
    expect(receipts.map(({ id }) => id)).toEqual(jobs.map(({ key }) => `mail.${key}`));
    expect(await countJobs(one)).toBe(150);
    writes.count = 0;
    expect((await one.jobs.addMany(jobs)).some(({ isNew }) => isNew)).toBe(false);
  });

  test("is added once if the answer is lost", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const writes = watchWrites(one);
    writes.lost = 1;
    const receipts = await one.jobs.addMany(
      Array.from({ length: 500 }, (_, n) => (n % 50 === 0 ? { type: "a", key: String(n) } : { type: "b" })),
    );
    expect([writes.count, await countJobs(one)]).toEqual([2, 500]);
    expect(receipts.every(({ isNew }) => isNew)).toBe(true);
  });

  test("has each key once, and the larger ones in several transactions", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const receipts = await one.jobs.addMany([
      { type: "a", key: "x", data: 1 },
      { type: "a", key: "x", data: 2 },
      { type: "a", key: "y", data: 1 },
      { type: "a", key: "y", data: 2, ifExists: "replace" },
    ]);
    expect(receipts.map(({ isNew }) => isNew)).toEqual([true, false, true, true]);
    const schedules = await one.schedules.list();
    expect(schedules.map(({ id, data }) => [id, data])).toEqual([
      ["a.x", 1],
      ["a.y", 2],
    ]);
    const large = Array.from({ length: 5 }, () => ({ type: "b", data: "x".repeat(600_000) }));
    await one.jobs.addMany(large);
    expect(await countJobs(one)).toBe(7);
  });
});

describe.concurrent("a job with the key of another one", () => {
  test("moves it while it waits: a later call within the delay", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const index = (data: number, delay: string) =>
      one.jobs.add("index", data, { key: "a", delay, ifExists: "replace" });
    await index(1, "1h");
    const first = (await one.schedules.get("index.a")).nextTime;
    expect(await index(2, "2h")).toMatchObject({ isNew: true });
    const { nextTime, data } = await one.schedules.get("index.a");
    expect([data, (nextTime?.getTime() ?? 0) - (first?.getTime() ?? 0) >= 3_600_000]).toEqual([2, true]);
    await index(3, "0s");
    const task = await pollTask(one);
    expect(task.data).toBe(3);
    await task.finish();
    expect(await listIds(one)).toEqual([]);
  });

  test("updates its data, and keeps its time", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.jobs.add("index", 1, { key: "a", delay: "1h" });
    const first = (await one.schedules.get("index.a")).nextTime;
    await one.jobs.add("index", 2, { key: "a", priority: 5, ifExists: "update" });
    const { nextTime, data, definition } = await one.schedules.get("index.a");
    expect([nextTime, data, definition.priority]).toEqual([first, 2, 5]);
  });

  test("runs after it if it runs already, and never beside it", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const running: number[] = [];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const overlaps: number[] = [];
    const handle = async ({ data }: { data: number }) => {
      running.push(data);
      overlaps.push(running.length);
      await gates[data - 1]?.promise;
      running.pop();
    };
    startWorker(namespace, new Worker<{ index: number }>(one, { handlers: { index: handle } }));
    await one.jobs.add("index", 1, { key: "a" });
    await waitUntil("the first run", async () => running.length === 1);
    expect(await one.jobs.add("index", 2, { key: "a", ifExists: "replace" })).toMatchObject({ isNew: true });
    const { nextTime } = await one.schedules.get("index.a");
    expect(nextTime).toBeDefined();
    gates[0]?.resolve();
    await waitUntil("the second run", async () => running[0] === 2);
    gates[1]?.resolve();
    await waitUntil("the end", async () => (await countJobs(one)) === 0);
    expect(overlaps).toEqual([1, 1]);
  });

  test("replaces it while it waits for a retry", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.jobs.add("index", 1, { key: "a", retries: 3, backoff: "1h" });
    await (await pollTask(one)).fail("no");
    expect(await one.schedules.poll()).toBeUndefined();
    await one.jobs.add("index", 2, { key: "a", ifExists: "replace" });
    const task = await pollTask(one);
    expect([task.data, task.attempt]).toEqual([2, 1]);
    await task.finish();
    expect(await listIds(one)).toEqual([]);
  });

  test("does not replace a schedule that is not a job", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.schedules.add("index.a", { cron: "@daily", data: 0 });
    await expect(one.jobs.add("index", 1, { key: "a", ifExists: "replace" })).rejects.toThrow(UsageError);
    expect(await one.schedules.get("index.a")).toMatchObject({ cron: "@daily", data: 0 });
  });

  test("keeps the pause of an operator", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.jobs.add("index", 1, { key: "a" });
    await one.schedules.pause("index.a");
    await one.jobs.add("index", 2, { key: "a", ifExists: "replace" });
    expect(await one.schedules.get("index.a")).toMatchObject({ isPaused: true, data: 2 });
  });
});

test("jobs of one queue run one at a time, also on several workers, and those of others beside them", async ({
  namespace,
}) => {
  const one = await connectLibrary(namespace, { host: "HOST" });
  const other = await connectLibrary(namespace, { host: "other" });
  const active = new Map<string, number>();
  const seen: [queue: string, active: number][] = [];
  const both = Promise.withResolvers<void>();
  const handle = async ({ data }: { data: string }) => {
    active.set(data, (active.get(data) ?? 0) + 1);
    seen.push([data, active.get(data) ?? 0]);
    if (active.size === 2) both.resolve();
    await both.promise; // a job of each queue runs at the same time
    active.set(data, (active.get(data) ?? 0) - 1);
  };
  const [receipt] = await one.jobs.addMany(
    ["HOST", "customer-7"].flatMap((queue) =>
      Array.from({ length: 4 }, () => ({ type: "work", data: queue, queue })),
    ),
  );
  const { definition } = await one.schedules.get(receipt?.id ?? "");
  expect(definition.leases).toEqual(["queue.0H0O0S0T=1:1"]); // not the macro HOST, which differs from host to host
  for (const box of [one, other])
    startWorker(namespace, new Worker<{ work: string }>(box, { handlers: { work: handle } }));
  await waitUntil("the end of all jobs", async () => (await countJobs(one)) === 0);
  expect(seen).toHaveLength(8);
  expect(Math.max(...seen.map(([, count]) => count))).toBe(1);
});
