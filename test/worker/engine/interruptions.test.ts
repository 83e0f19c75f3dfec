/** Temporary interruptions of a schedule: refusals, invalid values, edits during a run, listeners that throw. */

import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  isDeleting,
  isPutting,
  MINUTE,
  returnOk,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore, type Store, StoreError } from "../../../src/core/etcd/store.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";
import { formatDefinition, parseDefinition } from "../../../src/schedule/definition.ts";
import { parseDue } from "../../../src/schedule/state/due.ts";
import type { WorkerEvent } from "../../../src/worker/events.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";
import type { Poller } from "../../../src/worker/polling/poller.ts";

/** How long is waited for what comes by a watch, ms. */
const PATIENCE = 30_000;

const cluster = TestCluster.startForFile();
let fixture: WorkerFixture;
beforeEach(() => {
  fixture = new WorkerFixture(cluster.store);
});
afterEach(() => fixture.close());

/** A store whose transactions a test looks at before they are sent; what it throws is the answer. */
function watchTransactions(look: (txn: Txn) => Promise<void> | void) {
  const txn: Store["commitTxn"] = async (one, signal) => {
    await look(one);
    return await cluster.store.commitTxn(one, signal);
  };
  return delegateStore(cluster.store, { commitTxn: txn });
}

/** Polls until there is something, whatever is refused before. */
const pollUntilTask = (poller: Poller) =>
  waitUntil("a task", () => poller.poll().catch(() => undefined), { ms: PATIENCE });

/** Handlers that wait for a word, the first `count` of them; the others are done at once. */
function createGate(count = 1) {
  const gate = Promise.withResolvers<TaskResult>();
  let calls = 0;
  const run = (_: ScheduledTask) => {
    calls += 1;
    return calls > count ? returnOk() : gate.promise;
  };
  return { run, open: (verdict: TaskResult = { result: "ok" }) => gate.resolve(verdict) };
}

describe("a running key never outlives its task", () => {
  test("though the state was made unreadable meanwhile", async () => {
    await fixture.add("job");
    const { run, open } = createGate();
    const worker = fixture.startWorker(run);
    await worker.waitFor("started");
    await fixture.put(fixture.keys.due("job"), "?");
    open();
    await worker.waitForOutcomes(1);
    expect(await fixture.listRunning()).toEqual([]);
    await fixture.put(fixture.keys.due("job"), JSON.stringify({ next: START, runAt: START }));
    await worker.waitForOutcomes(2);
  });

  test("though it was deleted, and added again in the very moment", async () => {
    await fixture.add("job");
    const { run, open } = createGate();
    let isFirst = true;
    const again = watchTransactions(async (txn) => {
      const drops = isDeleting(txn, fixture.keys.running("job")) && txn.success.length === 1;
      if (drops && isFirst) {
        isFirst = false;
        await fixture.add("job");
      }
    });
    const worker = new WorkerFixture(again, fixture.clock, fixture.keys).startWorker(run);
    await worker.waitFor("started");
    await fixture.delete(fixture.keys.schedule("job"), fixture.keys.due("job"));
    open();
    await worker.waitForOutcomes(2);
    expect(await fixture.readDue("job")).toMatchObject({ next: START + MINUTE, open: [] });
    await worker.stop();
  });
});

test("forbid made allow while one runs: the next waits for its end, and asks nothing of etcd until then", async () => {
  const definition = await fixture.add("job");
  let claims = 0;
  const counting = watchTransactions((txn) => {
    if (isPutting(txn, fixture.keys.due("job"))) claims += 1;
  });
  const { run, open } = createGate();
  const worker = new WorkerFixture(counting, fixture.clock, fixture.keys).startWorker(run);
  await worker.waitFor("started");
  await fixture.put(fixture.keys.schedule("job"), formatDefinition({ ...definition, overlap: "allow" }));
  await fixture.add("mark");
  await worker.waitFor("started", 2); // by then the worker knows the new definition
  const before = claims;
  fixture.clock.advance(MINUTE);
  await worker.waitFor("ended", 2, ({ id }) => id === "mark");
  fixture.clock.advance(MINUTE);
  await worker.waitFor("ended", 3, ({ id }) => id === "mark");
  expect(claims - before).toBe(0);
  open();
  await worker.waitFor("ended", 3, ({ id }) => id === "job");
  await worker.stop();
});

test("a first failure is told as the first, though the answer to its end was lost", async () => {
  await fixture.add("job");
  let isLost = false;
  const lossy = delegateStore(cluster.store, {
    commitTxn: async (txn, signal) => {
      const answer = await cluster.store.commitTxn(txn, signal);
      if (isLost || !isDeleting(txn, fixture.keys.running("job"))) return answer;
      isLost = true;
      throw new StoreError("unavailable", "from the test");
    },
  });
  const failing = async (): Promise<TaskResult> => ({ result: "failed" });
  const worker = new WorkerFixture(lossy, fixture.clock, fixture.keys).startWorker(failing);
  const [first] = await worker.waitFor("ended");
  expect([isLost, first.wasFailing]).toEqual([true, false]);
  await worker.stop();
});

test("told to stop, a worker leaves though etcd refuses the end of a task; another takes it again", async () => {
  await fixture.add("job", { end: START });
  const refusing = watchTransactions((txn) => {
    if (isDeleting(txn, fixture.keys.running("job")))
      throw new StoreError("permission", "refused by the test");
  });
  const worker = new WorkerFixture(refusing, fixture.clock, fixture.keys).startWorker(returnOk);
  await worker.waitFor("started");
  await worker.stop();
  expect(await fixture.listRunning()).toEqual([]);
  const other = fixture.startWorker(returnOk);
  expect(await other.waitForOutcomes(1)).toMatchObject([{ scheduled: START, result: "ok", attempt: 2 }]);
});

test("joining anew, it survives that its new session is gone before it was used", async () => {
  let joins = 0;
  const unlucky = watchTransactions(({ success: [first] }) => {
    if (first?.op !== "put" || fixture.keys.parse(first.key).kind !== "worker" || first.session === undefined)
      return;
    joins += 1;
    if (joins === 2) throw new StoreError("noSession", "requested lease not found");
  });
  const worker = new WorkerFixture(unlucky, fixture.clock, fixture.keys).startWorker(returnOk, { ttl: 5 });
  const before = await worker.waitUntilJoined();
  await fixture.revokeSession(fixture.keys.worker(before));
  expect(await worker.waitUntilJoined(2)).not.toBe(before);
  await fixture.add("job");
  await worker.waitForOutcomes(1);
  await worker.stop();
});

test("a listener that always throws does not affect others", async () => {
  await fixture.add("job", { catchup: "latest" });
  fixture.clock.advance(5 * MINUTE);
  const told: WorkerEvent["kind"][] = [];
  const ended = Promise.withResolvers<void>();
  const worker = fixture.startWorker(returnOk, {
    listener: ({ kind }) => {
      told.push(kind);
      if (kind === "ended") ended.resolve();
      throw new Error("from the test");
    },
  });
  await ended.promise;
  expect(told).toContain("skipped");
  expect(await fixture.listRunning()).toEqual([]);
  await worker.stop();
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1e15, 1.5, 1e300])(
  "a handler that wants to wait %s ms leaves a state that can be read",
  async (wait) => {
    await fixture.add("job");
    await fixture.startWorker(async () => ({ result: "retry", wait })).waitForOutcomes(1);
    expect(
      parseDue((await cluster.store.readRange({ key: fixture.keys.due("job") })).kvs[0]?.value ?? ""),
    ).toHaveProperty("value");
  },
);

test.each([{ until: 1e300 }, { until: "soon" }, { by: {} }, { why: 5 }])(
  "a pause by hand that says %j cannot be read",
  (odd) => {
    const pause = { by: "me", at: START, ...odd };
    expect(parseDefinition(JSON.stringify({ cron: "* * * * *", timezone: "UTC", pause }))).toHaveProperty(
      "fault",
    );
  },
);

test("a poller goes on after a claim that etcd refused", async () => {
  await fixture.add("job");
  let isFull = true;
  const full = watchTransactions((txn) => {
    if (isFull && isPutting(txn, fixture.keys.running("job")))
      throw new StoreError("noSpace", "from the test");
  });
  const poller = await new WorkerFixture(full, fixture.clock, fixture.keys).openPoller();
  await expect(poller.poll()).rejects.toMatchObject({ kind: "noSpace" });
  isFull = false;
  await (await pollUntilTask(poller)).finish();
  await poller.close();
});

test("a clock that goes back an hour holds up nothing but what is not due by it", async () => {
  await fixture.add("job", { end: START });
  fixture.clock.set(START + 60 * MINUTE);
  let isFull = true;
  const refused = Promise.withResolvers<void>();
  const full = watchTransactions((txn) => {
    const key = fixture.keys.running("job");
    if (!isFull || !isPutting(txn, key)) return;
    isFull = txn.success.some(({ op }) => op === "txn"); // what was combined is sent again by itself
    if (!isFull) refused.resolve();
    throw new StoreError("noSpace", "from the test");
  });
  const worker = new WorkerFixture(full, fixture.clock, fixture.keys).startWorker(returnOk);
  await refused.promise;
  await new Promise((resolve) => setImmediate(resolve));
  fixture.clock.set(START + 1_000);
  await worker.waitForOutcomes(1);
  await worker.stop();
});

test("a poller that may not watch any more says so, and sees again when it may", async () => {
  let isAllowed = true;
  let stop = Promise.withResolvers<undefined>();
  const watch: Store["watch"] = async function* (request, signal) {
    if (!isAllowed) throw new StoreError("permission", "from the test");
    const real = cluster.store.watch(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([real.next(), stop.promise]);
      if (!isAllowed || next === undefined) throw new StoreError("permission", "from the test");
      if (next.done) return next.value;
      yield next.value;
    }
  };
  const withdrawn = delegateStore(cluster.store, { watch });
  const poller = await new WorkerFixture(withdrawn, fixture.clock, fixture.keys).openPoller();
  expect(await poller.poll()).toBeUndefined();
  isAllowed = false;
  stop.resolve(undefined);
  await vi.waitFor(() => expect(poller.poll()).rejects.toMatchObject({ kind: "permission" }), PATIENCE);
  isAllowed = true;
  stop = Promise.withResolvers();
  await fixture.add("job");
  await (await pollUntilTask(poller)).finish();
  await poller.close();
});

describe("a session that is gone before its first use", () => {
  /** A fixture whose first sessions of workers end before their records are written. */
  function endFirstSessions(most: number): { unlucky: WorkerFixture; count(): number } {
    let ended = 0;
    const store = watchTransactions(async ({ success: [first] }) => {
      if (first?.op !== "put" || fixture.keys.parse(first.key).kind !== "worker") return;
      if (first.session === undefined || ended >= most) return;
      ended += 1;
      await cluster.store.revoke(first.session);
    });
    const unlucky = new WorkerFixture(store, fixture.clock, fixture.keys);
    onTestFinished(() => unlucky.close());
    return { unlucky, count: () => ended };
  }

  test("is replaced, and the worker runs its tasks", async () => {
    await fixture.add("job");
    const { unlucky, count } = endFirstSessions(2);
    const worker = unlucky.startWorker(returnOk);
    await Promise.race([worker.waitForOutcomes(1), worker.ended]);
    expect(worker.list("ended")).toMatchObject([{ outcome: { result: "ok" } }]);
    expect(count()).toBe(2);
  });

  test("is replaced for a program that polls", async () => {
    await fixture.add("job");
    const poller = await endFirstSessions(1).unlucky.openPoller();
    expect(await pollUntilTask(poller)).toMatchObject({ claimed: { id: "job" } });
  });

  test("again and again, is an error that says so", async () => {
    const { unlucky, count } = endFirstSessions(Infinity);
    await expect(unlucky.startWorker(returnOk).ended).rejects.toThrow(
      "etcd answers too slowly: 5 sessions of 30 s expired before their first use",
    );
    expect(count()).toBe(5);
  });
});

test("a task that asks for ever for another start later fails, and its retries count anew", async () => {
  await fixture.add("job", { cron: `@at ${new Date(START).toISOString()}`, retries: 1, backoff: 1_000 });
  const due = await fixture.readDue("job");
  const open = { scheduled: START, runAt: START, attempt: 0, failures: 0, kind: "due", postponed: 98 };
  await fixture.put(fixture.keys.due("job"), JSON.stringify({ ...due, next: undefined, open: [open] }));
  const worker = fixture.startWorker(async () => ({ result: "retry", wait: 0, reason: "busy" }));
  const outcomes = await worker.waitForOutcomes(3);
  expect(outcomes.map(({ result, reason }) => [result, reason])).toEqual([
    ["retry", "busy"],
    ["retry", "busy"],
    ["failed", "busy; it asked for another start later 101 times"],
  ]);
  const [again] = (await fixture.readDue("job")).open;
  expect(again).toMatchObject({ failures: 1 });
  expect(again?.postponed).toBeUndefined();
});

test("given back, an occurrence whose starts were counted anew by hand leaves a state that can be read", async () => {
  await fixture.add("job");
  const { run, open } = createGate();
  const worker = fixture.startWorker(run);
  await worker.waitFor("started");
  const { open: opened, ...rest } = await fixture.readDue("job");
  const anew = opened.map((one) => ({ ...one, attempt: 0 }));
  await fixture.put(fixture.keys.due("job"), JSON.stringify({ ...rest, open: anew }));
  open({ result: "released" });
  await worker.waitForOutcomes(2);
});
