/** One-off work of the library, and schedules that are removed after their last run. */
import { afterAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { delegateStore } from "../../../src/etcd/delegate-store.ts";
import { StoreError } from "../../../src/etcd/store.ts";
import {
  ConfigError,
  connect,
  type Signalbox,
  UsageError,
  Worker,
  type WorkerTask,
} from "../../../src/library/index.ts";
import { getConnection } from "../../../src/library/signalbox.ts";

const cluster = TestCluster.startForFile();
const open: Signalbox[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
});

async function connectTo({ prefix, env } = cluster.createNamespace()): Promise<Signalbox> {
  const one = await connect({ endpoints: cluster.etcd.endpoints, prefix, env });
  open.push(one);
  return one;
}

const waitUntilGone = (one: Signalbox, id: string) =>
  waitUntil(
    `the end of ${id}`,
    async () => !(await one.schedules.list()).some((schedule) => schedule.id === id),
  );

describe.concurrent("a job", () => {
  test("is done once, with its data, and leaves nothing behind", async () => {
    const namespace = cluster.createNamespace();
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
    expect(kvs.filter(({ key }) => key.includes(id) && !key.includes("/audit/"))).toEqual([]);
  });

  test("that a worker has done and removed before the call returns is added", async () => {
    const namespace = cluster.createNamespace();
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
    expect(await one.jobs.add("mail", 1, { key: "a" })).toEqual({ id: "mail.a", isNew: true, isDead: false });
    expect(await one.schedules.list()).toEqual([]);
  });

  test("with a key is one until it is done", async () => {
    const one = await connectTo();
    const add = () => one.jobs.add("report", 1, { key: "2026-11", delay: "1h" });
    expect(await add()).toEqual({ id: "report.2026-11", isNew: true, isDead: false });
    expect(await add()).toEqual({ id: "report.2026-11", isNew: false, isDead: false });
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
    const add = (data: number, replaceDead?: boolean) =>
      one.jobs.add("work", data, { key: "a", ...(replaceDead !== undefined && { replaceDead }) });
    await add(1);
    const task = await waitUntil("the job", () => one.schedules.poll());
    expect(await add(2, true)).toMatchObject({ isNew: false, isDead: false });
    await task.fail("no");
    expect(await add(2)).toMatchObject({ isNew: false, isDead: true });
    expect(await add(3, true)).toMatchObject({ isNew: true, isDead: false });
    const again = await waitUntil("the new job", () => one.schedules.poll());
    expect([again.data, again.attempt]).toEqual([3, 1]);
    await again.finish();
    expect(await one.schedules.list()).toEqual([]);
  });

  test("leaves no audit record for ever, and is added once if the answer is lost", async () => {
    const namespace = cluster.createNamespace();
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
    const { kvs } = await namespace.store.readRange(namespace.keys.audits());
    const sessions = new Set(kvs.map(({ session }) => session));
    expect([kvs.length, sessions.size]).toEqual([2, 1]); // one session for many
    const [session = 0n] = sessions;
    expect((await namespace.store.readTimeToLive(session))?.ttl).toBe(900);
  });

  test("refuses wrong options", async () => {
    const { jobs } = await connectTo();
    await expect(jobs.add("work", 1, { at: new Date(), delay: 5 })).rejects.toThrow(UsageError);
    await expect(jobs.add("work", 1, { priority: 101 })).rejects.toThrow(ConfigError);
    await expect(jobs.add("work", 1, { prio: 1 } as object)).rejects.toThrow(/"prio" of jobs.add/);
    await expect(jobs.add("", 1)).rejects.toThrow(UsageError);
  });
});

test("a schedule whose definition is changed while it runs for the last time is not removed", async () => {
  const namespace = cluster.createNamespace();
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
