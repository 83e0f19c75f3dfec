/** Workers with lost answers, lost calls, and an etcd that restarts or is full. */

import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  isDeleting,
  isPutting,
  MINUTE,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore, type Store, StoreError } from "../../../src/core/etcd/store.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";

const cluster = TestCluster.startForFile({ quotaBytes: 32 * 2 ** 20 });
let fixture: WorkerFixture;
afterEach(() => fixture.close());

/** Counts what is run. */
function createCounter() {
  const runs: string[] = [];
  const run = async ({ id, scheduled }: ScheduledTask): Promise<TaskResult> => {
    runs.push(`${id} ${(scheduled - START) / MINUTE}`);
    return { result: "ok" };
  };
  return { runs, run };
}

const buildExpectedRuns = (ids: readonly string[], minutes: number) =>
  ids.flatMap((id) => Array.from({ length: minutes }, (_, minute) => `${id} ${minute}`)).toSorted();

/** Loses transactions' answers, or the transactions themselves, in turns by a pattern of its own. */
function loseTransactions(real: Store): Store {
  let calls = 0;
  const txn: Store["commitTxn"] = async (one, signal) => {
    calls += 1;
    const createLostError = () => new StoreError("unavailable", "lost by the test");
    if (calls % 5 === 0) throw createLostError();
    const answer = await real.commitTxn(one, signal);
    if (calls % 3 === 0) throw createLostError();
    return answer;
  };
  return delegateStore(real, { commitTxn: txn });
}

/** The answers to what deletes a running key come so late, ms. */
function delayEnds(real: Store, ms: number): Store {
  const txn: Store["commitTxn"] = async (one, signal) => {
    const answer = await real.commitTxn(one, signal);
    if (isDeleting(one, "/running/")) await pause(ms);
    return answer;
  };
  return delegateStore(real, { commitTxn: txn });
}

/** The process stands still for so long, ms, between a claim's being applied and its answer. Frozen, it would be the same. */
function freezeAfterClaim(real: Store, ms: number): Store {
  let isDone = false;
  const txn: Store["commitTxn"] = async (one, signal) => {
    const answer = await real.commitTxn(one, signal);
    const isClaim = isPutting(one, "/running/");
    const until = isClaim && !isDone ? performance.now() + ms : 0;
    isDone ||= isClaim;
    while (performance.now() < until);
    return answer;
  };
  return delegateStore(real, { commitTxn: txn });
}

/** From the first claim on, which is applied, transactions get no answer for so long, ms. Renewals do. */
function muteAfter(real: Store, ms: number): Store {
  let until: number | undefined;
  const txn: Store["commitTxn"] = async (one, signal) => {
    const isClaim = isPutting(one, "/running/");
    if (until !== undefined && performance.now() < until) throw new StoreError("unavailable", "mute");
    const answer = await real.commitTxn(one, signal);
    if (until !== undefined || !isClaim) return answer;
    until = performance.now() + ms;
    throw new StoreError("unavailable", "mute");
  };
  return delegateStore(real, { commitTxn: txn });
}

const IDS = Array.from({ length: 8 }, (_, n) => `job${n}`);

describe("each occurrence runs exactly once", () => {
  beforeEach(() => {
    fixture = new WorkerFixture(cluster.store);
  });

  test("though every third answer is lost, and every fifth call", async () => {
    for (const id of IDS) await fixture.add(id, { end: START + 3 * MINUTE });
    const lossy = new WorkerFixture(loseTransactions(cluster.store), fixture.clock, fixture.keys);
    const { runs, run } = createCounter();
    const workers = [lossy.startWorker(run), lossy.startWorker(run)];
    fixture.clock.advance(4 * MINUTE);
    const isSettled = () => workers.flatMap((worker) => worker.list("ended")).length === 32;
    await Promise.race(workers.map((worker) => worker.waitForEvents(isSettled)));
    await lossy.close();
    expect(runs.toSorted()).toEqual(buildExpectedRuns(IDS, 4));
    for (const id of IDS) {
      const { next, open, last } = await fixture.readDue(id);
      expect({ next, open, result: last?.result }).toEqual({ next: undefined, open: [], result: "ok" });
      const outcomes = (await fixture.readOutcomes(id)).runs.map(
        ({ scheduled }) => (scheduled - START) / MINUTE,
      );
      expect(outcomes, "remembered once each").toEqual([3, 2, 1, 0]);
    }
    expect(await fixture.listRunning()).toEqual([]);
  });

  test("though a claim was applied, and no answer comes for longer than its session was good for", async () => {
    await fixture.add("job", { end: START });
    const deaf = new WorkerFixture(muteAfter(cluster.store, 2_600), fixture.clock, fixture.keys);
    const { runs, run } = createCounter();
    const worker = deaf.startWorker(run, { ttl: 3 });
    await worker.waitForOutcomes(1);
    await deaf.close();
    expect(runs).toEqual(["job 0"]);
    expect(await fixture.readDue("job")).toMatchObject({ open: [], last: { result: "ok" } });
  });

  test("though the answer to its end comes when the next one runs already", async () => {
    await fixture.add("job", { end: START + 2 * MINUTE });
    fixture.clock.advance(3 * MINUTE);
    const slow = new WorkerFixture(delayEnds(cluster.store, 300), fixture.clock, fixture.keys);
    const { runs, run } = createCounter();
    const worker = slow.startWorker(async (task) => {
      const verdict = await run(task);
      const until = performance.now() + 600;
      while (performance.now() < until && !task.signal.aborted) await pause(10);
      return task.signal.aborted ? { result: "lost" } : verdict;
    });
    await worker.waitForSuccesses(3);
    await slow.close();
    expect(runs).toEqual(["job 0", "job 1", "job 2"]);
    expect((await fixture.readOutcomes("job")).runs.map(({ result }) => result)).toEqual(["ok", "ok", "ok"]);
  });

  test("though etcd restarts meanwhile", async () => {
    for (const id of IDS) await fixture.add(id, { end: START + 2 * MINUTE });
    const { runs, run } = createCounter();
    // The wall clock jumps by a minute while etcd is away: were that a pause of the machine, the session must outlive it.
    const worker = fixture.startWorker(run, { ttl: 120 });
    await worker.waitForOutcomes(8);
    const restarted = cluster.etcd.restart();
    fixture.clock.advance(MINUTE);
    await restarted;
    await worker.waitForOutcomes(16);
    fixture.clock.advance(MINUTE);
    await worker.waitForOutcomes(24);
    expect(runs.toSorted()).toEqual(buildExpectedRuns(IDS, 3));
    expect(worker.events.filter(({ kind }) => kind === "left")).toEqual([]);
  });
});

test("nothing is begun on a claim that may have expired while the process stood still", async () => {
  fixture = new WorkerFixture(cluster.store);
  await fixture.add("job", { end: START });
  const stalled = new WorkerFixture(freezeAfterClaim(cluster.store, 1_300), fixture.clock, fixture.keys);
  const attempts: number[] = [];
  const worker = stalled.startWorker(
    async ({ attempt }) => {
      attempts.push(attempt);
      return { result: "ok" };
    },
    { ttl: 2, terminationTimeout: 100 },
  );
  await worker.waitForSuccesses(1);
  await stalled.close();
  expect(attempts, "the first was claimed, and not begun").toHaveLength(1);
  expect(attempts[0]).toBeGreaterThan(1);
});

test("an etcd that is full holds up the end of a task; when there is room, it is settled, and nothing runs twice", async () => {
  fixture = new WorkerFixture(cluster.store);
  await fixture.add("job", { end: START });
  const { runs, run } = createCounter();
  const gate = Promise.withResolvers<void>();
  const worker = fixture.startWorker(async (task) => {
    const verdict = await run(task);
    await gate.promise;
    return verdict;
  });
  await worker.waitFor("started");
  const junk = await fill(fixture);
  gate.resolve();
  await cluster.store.commitTxn({ compare: [], success: [{ op: "delete", ...junk }], failure: [] });
  await makeRoom();
  await worker.waitForOutcomes(1);
  expect(runs).toEqual(["job 0"]);
  expect(await fixture.readDue("job")).toMatchObject({ open: [], last: { result: "ok" } });
});

/** Puts until etcd takes no more. @returns the range to delete */
async function fill({ keys }: WorkerFixture): Promise<{ key: string; rangeEnd: string }> {
  const value = "x".repeat(1_000_000);
  try {
    for (let n = 0; ; n += 1) await fixture.put(`${keys.prefix}zz/${n}`, value);
  } catch (error) {
    expect(error).toMatchObject({ kind: "noSpace" });
  }
  return { key: `${keys.prefix}zz/`, rangeEnd: `${keys.prefix}zz0` };
}

/** What an operator does: compact, defragment, disarm. */
async function makeRoom(): Promise<void> {
  const [status] = await cluster.store.readMemberStatuses();
  const revision = status?.ok ? status.revision : 0n;
  await cluster.etcd.runEtcdctl("compact", "--physical", String(revision));
  await cluster.etcd.runEtcdctl("defrag");
  await cluster.etcd.runEtcdctl("alarm", "disarm");
}
