/** Schedules of a serial queue: what cannot run yet takes no slot of a worker. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  isPutting,
  isReading,
  MINUTE,
  omitStarters,
  SettableClock,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore, type Store } from "../../../src/core/etcd/store.ts";
import type { Txn, WatchBatch } from "../../../src/core/protocol/txn.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { listWorkersBefore } from "../../../src/schedule/hash.ts";
import { buildQueueLease } from "../../../src/schedule/serial-queue.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
let started: string[];
/** Ends of the tasks that run, by schedule. */
let ends: Map<string, () => void>;
/** The task that goes on when it is aborted, as on a frozen host, and its end. */
let frozen: { id?: string; end: () => void };
/** How often workers have tried to claim `q1` while changes of it are late, and what resolves after four times. */
let tries: number;
let tried: PromiseWithResolvers<void>;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
  fixture.clock.set(START - MINUTE);
  started = [];
  ends = new Map();
  frozen = { end: () => {} };
  tries = -Infinity;
  tried = Promise.withResolvers();
});
afterEach(async () => {
  frozen.end();
  tried.resolve();
  await fixture.close();
});

function startWorker(concurrency: number, { ttl = 30, workers = fixture } = {}) {
  return workers.startWorker(
    async ({ id, signal }: ScheduledTask): Promise<TaskResult> => {
      started.push(id);
      await new Promise<void>((resolve) => {
        ends.set(id, resolve);
        signal.addEventListener("abort", () => {
          if (frozen.id === id) frozen = { end: resolve };
          else resolve();
        });
      });
      ends.delete(id);
      return { result: signal.aborted ? "lost" : "ok" };
    },
    { concurrency, ttl },
  );
}

/** Adds a schedule that is due once. */
const add = (id: string, queue?: string, second = 0, more: Partial<Definition> = {}) =>
  fixture.add(id, {
    ...more,
    cron: `@at ${new Date(START + second * 1_000).toISOString()}`,
    ...(queue !== undefined && { leases: [buildQueueLease(queue)] }),
  });

const end = (id: string) => ends.get(id)?.();

test("those that wait for another one leave the slots to others, and run one after the other in their order", async () => {
  await startWorker(2).waitUntilJoined();
  for (const n of [1, 2, 3, 4]) await add(`q${n}`, "one", n);
  await add("other", undefined, 9);
  fixture.clock.set(START + 10_000);
  await waitUntil("two", () => started.length === 2);
  expect(started).toEqual(["q1", "other"]);
  for (const n of [1, 2, 3]) {
    end(`q${n}`);
    await waitUntil("next", () => started.at(-1) === `q${n + 1}`);
  }
  expect(started).toEqual(["q1", "other", "q2", "q3", "q4"]);
});

test("also if another worker runs the one before; if that worker leaves, they go on", async () => {
  const first = startWorker(1);
  await first.waitUntilJoined();
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
  await waitUntil("first", () => started.length === 1);
  const second = startWorker(2);
  await second.waitUntilJoined();
  await add("other", undefined, 9);
  await waitUntil("other", () => started.length === 2);
  expect(started).toEqual(["q1", "other"]);
  first.engine.drain();
  end("q1");
  await waitUntil("next", () => started.length === 3);
  expect(started.at(-1)).toBe("q2");
  await fixture.delete(fixture.keys.schedule("q2"), fixture.keys.due("q2"));
  end("q2");
  await waitUntil("last", () => started.at(-1) === "q3");
});

test("one that waits for longer than its deadline is skipped", async () => {
  await startWorker(2).waitUntilJoined();
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n, n === 2 ? { deadline: 5_000 } : {});
  fixture.clock.set(START + 4_000);
  await waitUntil("first", () => started.length === 1);
  fixture.clock.set(START + 10_000);
  end("q1");
  await waitUntil("last", () => started.at(-1) === "q3");
  expect((await fixture.readOutcomes("q2")).runs).toMatchObject([{ result: "skipped" }]);
});

test("each queue goes on by itself", async () => {
  await startWorker(2).waitUntilJoined();
  for (const n of [1, 2]) for (const queue of ["a", "b"]) await add(`${queue}${n}`, queue, n);
  fixture.clock.set(START + 10_000);
  await waitUntil("both", () => started.length === 2);
  expect(started.toSorted()).toEqual(["a1", "b1"]);
  end("b1");
  await waitUntil("next", () => started.length === 3);
  expect(started.at(-1)).toBe("b2");
});

test("those that were removed meanwhile do not delay the next one", async () => {
  await startWorker(3).waitUntilJoined();
  const gone = Array.from({ length: 60 }, (_, n) => `gone${n}`);
  await add("first", "one");
  for (const id of gone) await add(id, "one", 1);
  await add("last", "one", 2);
  await add("other", undefined, 9);
  fixture.clock.set(START + 10_000);
  await waitUntil("both", () => started.length === 2);
  for (const id of gone) await fixture.delete(fixture.keys.schedule(id), fixture.keys.due(id));
  await add("marker", undefined, 9);
  await waitUntil("the worker has seen it", () => started.includes("marker"));
  const from = Date.now();
  end("first");
  await waitUntil("last", () => started.at(-1) === "last");
  expect(Date.now() - from, "not a second for each").toBeLessThan(30_000);
});

/** Starts a worker that runs what is next in a queue. @param meddle  called before etcd gets a claim of `q1`, with how many came before */
async function startMeddled(meddle: (count: number) => Promise<void>) {
  let count = 0;
  const commitTxn: Store["commitTxn"] = async (txn, signal) => {
    if (isPutting(txn, fixture.keys.running("q1"))) await meddle(count++);
    return await cluster.store.commitTxn(txn, signal);
  };
  fixture = new WorkerFixture(delegateStore(cluster.store, { commitTxn }), fixture.clock);
  await startWorker(2).waitUntilJoined();
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
}

test("a claim that comes too late, before the watch shows why, lets no later one overtake", async () => {
  await startMeddled(async (count) => {
    if (count === 0) await fixture.put(fixture.keys.due("q1"), formatDue(await fixture.readDue("q1")));
  });
  await waitUntil("first", () => started.length > 0);
  for (const n of [1, 2]) {
    end(`q${n}`);
    await waitUntil("next", () => started.at(-1) === `q${n + 1}`);
  }
  expect(started).toEqual(["q1", "q2", "q3"]);
});

test("one whose claims come too late does not stop its queue when it is removed", async () => {
  await startMeddled(async (count) => {
    if (count < 2) await fixture.put(fixture.keys.due("q1"), formatDue(await fixture.readDue("q1")));
    else await fixture.delete(fixture.keys.schedule("q1"), fixture.keys.due("q1"));
  });
  await waitUntil("the other one", () => started.length > 0);
  expect(started).toEqual(["q2"]);
});

test("one whose claims always come too late does not stop its queue", async () => {
  await startWorker(2).waitUntilJoined();
  await fixture.put(`${fixture.keys.running("q1")}/strange`, "no worker reads it, each claim compares it");
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
  await waitUntil("the next one", () => started.length > 0);
  expect(started).toEqual(["q2"]);
});

test("a worker that is not the first one begins with what was due first", async () => {
  const first = await startWorker(1).waitUntilJoined();
  const second = await startWorker(1).waitUntilJoined();
  const findFirst = (name: (n: number) => string) => {
    const isFirst = (n: number) => listWorkersBefore(second, [first, second], name(n)).length === 1;
    return Array.from({ length: 100 }, (_, n) => n).find(isFirst);
  };
  await add(`busy${findFirst((n) => `busy${n}`)}`);
  const queue = `q${findFirst((n) => `queue.q${n}`)}`;
  const ids = Array.from({ length: 40 }, (_, n) => `job${n}`);
  for (const [n, id] of ids.entries()) await add(id, queue, 1 + n / 1_000);
  fixture.clock.set(START);
  await waitUntil("the first worker is busy", () => started.length === 1);
  fixture.clock.set(START + 1_100);
  await waitUntil("the second one begins", () => started.length > 1);
  expect(started[1]).toBe("job0");
});

/**
 * Ends the session of the worker that runs a schedule, while the worker is frozen.
 * @param isOfOtherTerm  another leader granted it, for a second
 */
async function loseWorker(id: string, isOfOtherTerm: boolean) {
  const due = await fixture.readDue(id);
  const mark = { ttl: 1, term: "1" };
  const open = due.open.map((one) => ({ ...one, session: one.session && { ...one.session, ...mark } }));
  if (isOfOtherTerm) await fixture.put(fixture.keys.due(id), formatDue({ ...due, open }));
  const { kvs } = await cluster.store.readRange({ key: fixture.keys.running(id) });
  frozen.id = id;
  await cluster.store.revoke(kvs[0]?.session ?? 0n);
}

test("what was lost with its worker keeps its place, also while its session may not have expired", async () => {
  for (const _ of [1, 2, 3]) await startWorker(2).waitUntilJoined();
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
  await waitUntil("first", () => started.length === 1);
  await loseWorker("q1", true);
  await waitUntil("the next one", () => started.length > 1);
  expect(started.slice(0, 2)).toEqual(["q1", "q1"]);
});

/**
 * Creates the fixture of workers to which changes of a key of `q1` arrive only when they have tried to claim it four times since.
 * @param isLate  whether a change of a key does so
 */
function delayEvents(isLate: (key: string) => boolean) {
  const { store } = cluster;
  const { clock, keys } = fixture;
  const isOfQ1 = ({ success }: Txn): boolean =>
    success.some((op) => (op.op === "txn" ? isOfQ1(op.txn) : op.key === keys.running("q1")));
  const commitTxn: Store["commitTxn"] = async (txn, signal) => {
    if (isOfQ1(txn)) tries += 1;
    if (tries >= 4) tried.resolve();
    return await store.commitTxn(txn, signal);
  };
  const watch: Store["watch"] = async function* (request, signal) {
    const arrived: WatchBatch[] = [];
    let news = Promise.withResolvers<void>();
    const add = (batch: WatchBatch) => {
      arrived.push(batch);
      news.resolve();
    };
    const delay = (batch: WatchBatch) => {
      tries = Math.max(tries, 0);
      void tried.promise.then(() => add(batch));
    };
    const read = async () => {
      for await (const batch of store.watch(request, signal)) {
        const changed = batch.events.map((event) => (event.type === "put" ? event.kv.key : event.key));
        (changed.some(isLate) ? delay : add)(batch);
      }
    };
    read().catch((error) => news.reject(error));
    for (;;) {
      await news.promise;
      news = Promise.withResolvers();
      yield* arrived.splice(0);
    }
  };
  return new WorkerFixture(delegateStore(store, { watch, commitTxn }), clock, keys);
}

test("what was lost with its worker keeps its place, though a change of its state arrives late", async () => {
  let isLost = false;
  fixture = delayEvents((key) => isLost && key === fixture.keys.due("q1"));
  for (const _ of [1, 2, 3]) await startWorker(2).waitUntilJoined();
  for (const n of [1, 2, 3]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
  await waitUntil("first", () => started.length === 1);
  isLost = true;
  await loseWorker("q1", true);
  await waitUntil("the next one", () => started.length > 1);
  expect(started.slice(0, 2)).toEqual(["q1", "q1"]);
});

test("nothing overtakes what a worker of the version before runs", async () => {
  const { clock, keys } = fixture;
  fixture = new WorkerFixture(omitStarters(cluster.store), clock, keys);
  await startWorker(1).waitUntilJoined();
  const looked = Promise.withResolvers<void>();
  const commitTxn: Store["commitTxn"] = async (txn, signal) => {
    const answer = await cluster.store.commitTxn(txn, signal);
    if (txn.compare.length === 0 && isReading(txn, keys.runnings().key)) looked.resolve();
    return answer;
  };
  const later = new SettableClock(START - MINUTE);
  const others = new WorkerFixture(delegateStore(cluster.store, { commitTxn }), later, keys);
  await startWorker(2, { workers: others }).waitUntilJoined();
  for (const n of [1, 2]) await add(`q${n}`, "one", n);
  clock.set(START + 1_000);
  await waitUntil("first", () => started.length === 1);
  later.set(START + 10_000);
  await looked.promise;
  await add("marker", undefined, 9);
  await waitUntil("marker", () => started.length > 1);
  expect(started).toEqual(["q1", "marker"]);
  await others.close();
});

test("what was lost keeps its place when its worker, which cannot renew its session, says so itself", async () => {
  const renew: Store["renew"] = async (id, signal) => {
    if (started.length > 0) await tried.promise;
    return await cluster.store.renew(id, signal);
  };
  fixture = new WorkerFixture(delegateStore(cluster.store, { renew }), fixture.clock);
  for (const _ of [1, 2]) await startWorker(2, { ttl: 3 }).waitUntilJoined();
  for (const n of [1, 2]) await add(`q${n}`, "one", n);
  fixture.clock.set(START + 10_000);
  await waitUntil("the next one", () => started.length > 1);
  expect(started.slice(0, 2)).toEqual(["q1", "q1"]);
});

test("what was lost keeps its place while the worker that comes first has no slot", async () => {
  const workers: string[] = [];
  for (const _ of [1, 2, 3]) workers.push(await startWorker(1).waitUntilJoined());
  const [first = ""] = workers;
  const isFirst = (name: string) => listWorkersBefore(first, workers, name).length === 0;
  const find = (name: (n: number) => string) =>
    name(Array.from({ length: 100 }, (_, n) => n).findIndex((n) => isFirst(name(n))));
  await add(find((n) => `busy${n}`));
  const queue = find((n) => `queue.q${n}`).replace("queue.", "");
  for (const n of [1, 2, 3]) await add(`q${n}`, queue, n);
  fixture.clock.set(START);
  await waitUntil("the first worker is busy", () => started.length === 1);
  fixture.clock.set(START + 10_000);
  await waitUntil("first", () => started.length === 2);
  await loseWorker("q1", false);
  await waitUntil("the next one", () => started.length > 2);
  expect(started.slice(1, 3)).toEqual(["q1", "q1"]);
});

test("a running key that never expires, as a copy of etcd's keys has, blocks its schedule only", async () => {
  await add("copied", "one");
  await fixture.put(fixture.keys.running("copied"), "no session");
  await add("next", "one", 1);
  await startWorker(1).waitUntilJoined();
  fixture.clock.set(START + 10_000);
  await waitUntil("next", () => started.length === 1, { ms: 20_000 });
  expect(started).toEqual(["next"]);
});
