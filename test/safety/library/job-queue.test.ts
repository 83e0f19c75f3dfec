/** One-off work of the library, and schedules that are removed after their last run. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { delegateStore, StoreError } from "../../../src/core/etcd/store.ts";
import { buildPrefixRange } from "../../../src/core/protocol/txn.ts";
import {
  ConfigError,
  type Signalbox,
  UsageError,
  Worker,
  type WorkerTask,
} from "../../../src/library/index.ts";
import { getConnection } from "../../../src/library/signalbox.ts";
import { parseOutcomes } from "../../../src/schedule/state/outcome.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const connectTo = (namespace = cluster.createNamespace()) => connectLibrary(namespace);

const waitUntilGone = (one: Signalbox, id: string) =>
  waitUntil(
    `the end of ${id}`,
    async () => !(await one.schedules.list()).some((schedule) => schedule.id === id),
  );

describe.concurrent("a job", () => {
  test("is done once, with its data, and leaves nothing behind", async ({ namespace }) => {
    const one = await connectTo(namespace);
    const done: unknown[] = [];
    const over = new AbortController();
    const worker = new Worker(one, { handlers: { mail: (task) => void done.push(task.data) } });
    const running = worker.run(over.signal);
    const { id, isNew } = await one.jobs.add("mail", { to: "ops" });
    expect([id.split(".")[0], isNew]).toEqual(["mail", true]);
    await waitUntilGone(one, id);
    expect(done).toEqual([{ to: "ops" }]);
    over.abort();
    await running;
    const { kvs } = await namespace.store.readRange(namespace.keys.getFullRange());
    expect(kvs.filter(({ key }) => key.includes(id))).toEqual([]);
    expect(
      kvs.map(({ key }) => namespace.keys.parse(key).kind),
      "the host is known",
    ).toContain("host");
  });

  test("that a worker has done and removed before the call returns is added", async ({ namespace }) => {
    const [one, other] = [await connectTo(namespace), await connectTo(namespace)];
    const { ports } = getConnection(one);
    const { store } = ports;
    ports.store = delegateStore(store, {
      async commitTxn(txn, signal) {
        const answer = await store.commitTxn(txn, signal);
        if (txn.compare.length === 0) return answer; // a read
        const task = await waitUntil("the job", () => other.schedules.poll());
        await task.finish();
        return answer;
      },
    });
    expect(await one.jobs.add("mail", 1, { key: "a" })).toMatchObject({
      id: "mail.a",
      isNew: true,
      isDead: false,
    });
    expect(await one.schedules.list()).toEqual([]);
  });

  test("with a key is one until it is done", async () => {
    const one = await connectTo();
    const add = () => one.jobs.add("report", 1, { key: "2026-11", delay: "1h" });
    expect(await add()).toMatchObject({ id: "report.2026-11", isNew: true, isDead: false });
    expect(await add()).toMatchObject({ id: "report.2026-11", isNew: false, isDead: false });
    const { nextTime } = await one.schedules.get("report.2026-11");
    expect(nextTime?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    await one.schedules.delete("report.2026-11");
    expect(await add()).toMatchObject({ isNew: true });
  });

  test("with a higher priority starts first", async () => {
    const one = await connectTo();
    for (const [key, priority] of Object.entries({ low: -5, usual: 0, urgent: 7 }))
      await one.jobs.add("work", key, { key, priority });
    const order: unknown[] = [];
    const over = new AbortController();
    const handlers = { work: (task: WorkerTask) => void order.push(task.data) };
    const running = new Worker(one, { handlers, concurrency: 1 }).run(over.signal);
    await waitUntilGone(one, "work.low");
    over.abort();
    await running;
    expect(order).toEqual(["urgent", "usual", "low"]);
  });

  test("that fails for good stays, with its dead letter", async () => {
    const one = await connectTo();
    const over = new AbortController();
    let starts = 0;
    const fail = () => {
      starts += 1;
      throw new Error("no");
    };
    const running = new Worker(one, { handlers: { work: fail } }).run(over.signal);
    const { id } = await one.jobs.add("work", undefined, { retries: 1, backoff: 10 });
    await waitUntil("a dead letter", async () => {
      const { definition, last, nextTime } = await one.schedules.get(id);
      return (
        definition.removeAfter === "success" &&
        last?.result === "failed" &&
        nextTime === undefined &&
        starts === 2
      );
    });
    over.abort();
    await running;
  });

  test("that was given up is told from one that is queued, and can be replaced", async () => {
    const one = await connectTo();
    const add = (data: number, ifExists: "keep" | "replaceDead" = "keep") =>
      one.jobs.add("work", data, { key: "a", ifExists, retries: 0 });
    await add(1);
    const task = await waitUntil("the job", () => one.schedules.poll());
    expect(await add(2, "replaceDead")).toMatchObject({ isNew: false, isDead: false });
    await task.fail("no");
    expect(await add(2)).toMatchObject({ isNew: false, isDead: true });
    expect(await add(3, "replaceDead")).toMatchObject({ isNew: true, isDead: false });
    const again = await waitUntil("the new job", () => one.schedules.poll());
    expect([again.data, again.attempt]).toEqual([3, 1]);
    await again.finish();
    expect(await one.schedules.list()).toEqual([]);
  });

  test("is added once if the answer is lost, and done and removed meanwhile", async ({ namespace }) => {
    const [one, other] = [await connectTo(namespace), await connectTo(namespace)];
    const { ports } = getConnection(one);
    const { store } = ports;
    let lost = 0;
    ports.store = delegateStore(store, {
      async commitTxn(txn, signal) {
        const answer = await store.commitTxn(txn, signal);
        if (txn.compare.length === 0 || lost > 0) return answer;
        lost += 1;
        const task = await waitUntil("the job", () => other.schedules.poll());
        await task.finish();
        throw new StoreError("unavailable", "the answer is lost");
      },
    });
    expect(await one.jobs.add("mail", 1, { key: "a" })).toMatchObject({ isNew: true });
    await one.jobs.add("mail", 1, { key: "b", delay: "1h" });
    expect([lost, (await one.schedules.list()).map(({ id }) => id)]).toEqual([1, ["mail.b"]]);
  });

  test("that reaches etcd late, after its call has succeeded and the job is done, is not added again", async ({
    namespace,
  }) => {
    const [one, other] = [await connectTo(namespace), await connectTo(namespace)];
    const { ports } = getConnection(one);
    const { store } = ports;
    const sent: Parameters<typeof store.commitTxn>[0][] = [];
    ports.store = delegateStore(store, {
      commitTxn(txn, signal) {
        if (txn.compare.length > 0) sent.push(txn);
        return store.commitTxn(txn, signal);
      },
    });
    for (const key of ["a", "b"]) {
      await one.jobs.add("mail", 1, { key });
      await (await waitUntil("the job", () => other.schedules.poll())).finish();
    }
    expect(sent).toHaveLength(2);
    for (const txn of sent) expect(await store.commitTxn(txn)).toMatchObject({ succeeded: false });
    expect(await one.schedules.list()).toEqual([]);
  });

  test("is not in the audit: 200 jobs leave it empty, and the receipts of those added at the same time", async ({
    namespace,
  }) => {
    const one = await connectTo(namespace);
    for (let batch = 0; batch < 20; batch += 1)
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => one.jobs.add("mail", 1, { key: `${batch}-${n}` })), // without keys: one call
      );
    await one.jobs.add("mail", 1, { key: "a", retries: 0 });
    for (let times = 0; times < 20; times += 1) await one.jobs.add("mail", 1, { key: "a", retries: 0 });
    const { store, keys } = namespace;
    expect((await store.readRange(keys.schedules())).count).toBe(201);
    expect((await store.readRange(keys.audits())).count).toBe(0);
    const { kvs } = await store.readRange(buildPrefixRange(`${keys.prefix}receipts/`));
    const sessions = new Set(kvs.map(({ session }) => session));
    expect([kvs.length, sessions.size]).toEqual([10, 1]);
    const [session = 0n] = sessions;
    expect((await store.readTimeToLive(session))?.ttl).toBe(900);
  });

  test("that failed has its outcome as the record, and what an operator does to it is in the audit", async ({
    namespace,
  }) => {
    const one = await connectTo(namespace);
    const { id } = await one.jobs.add("mail", 1, { key: "a", retries: 0 });
    const task = await waitUntil("the job", () => one.schedules.poll());
    await task.fail("no such address");
    const { store, keys } = namespace;
    const { kvs } = await store.readRange({ key: keys.outcomes(id) });
    expect(parseOutcomes(kvs[0]?.value)).toMatchObject({
      runs: [{ result: "failed", reason: "no such address" }],
      dead: [{ result: "failed" }],
    });
    expect((await store.readRange(keys.audits())).count).toBe(0);
    await one.schedules.pause(id);
    const audit = await store.readRange(keys.audits());
    expect(audit.kvs).toMatchObject([{ session: 0n }]);
    expect(audit.kvs[0]?.value).toContain("paused");
  });

  test("refuses wrong options", async () => {
    const { jobs } = await connectTo();
    await expect(jobs.add("work", 1, { at: new Date(), delay: 5 })).rejects.toThrow(UsageError);
    await expect(jobs.add("work", 1, { priority: 101 })).rejects.toThrow(ConfigError);
    await expect(jobs.add("work", 1, { prio: 1 } as object)).rejects.toThrow(/"prio" of jobs.add/);
    await expect(jobs.add("", 1)).rejects.toThrow(UsageError);
    await expect(jobs.add("work", 1, { ifExists: "replace" })).rejects.toThrow(/needs|only with a key/);
    await expect(jobs.add("work", 1, { key: "a", ifExists: "drop" } as object)).rejects.toThrow(
      '"drop" is none',
    );
    await expect(jobs.addMany([{ type: "work" }, { type: "work", data: new Map() }])).rejects.toThrow("Map");
    await expect(jobs.addMany([null] as unknown as [])).rejects.toThrow("must be a list of objects");
    for (const name of [undefined, 5, {}] as unknown as string[]) {
      await expect(jobs.add(name)).rejects.toThrow(UsageError);
      await expect(jobs.done(name)).rejects.toThrow(UsageError);
    }
    await expect(jobs.addMany({} as [])).rejects.toThrow("must be a list");
  });
});

test("a schedule whose definition is changed while it runs for the last time is not removed", async ({
  namespace,
}) => {
  const one = await connectTo(namespace);
  const over = new AbortController();
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const hold = async () => {
    started.resolve();
    await gate.promise;
  };
  const running = new Worker(one, { handlers: { work: hold } }).run(over.signal);
  const { id } = await one.jobs.add("work");
  await started.promise;
  await one.schedules.modify(id, { cron: "@yearly" });
  gate.resolve();
  const changed = await waitUntil("the end of the run", async () => {
    const schedule = await one.schedules.get(id);
    return schedule.last !== undefined && schedule;
  });
  expect(changed).toMatchObject({ cron: "@yearly", last: { result: "ok" } });
  expect(changed.nextTime).toBeDefined();
  over.abort();
  await running;
});
