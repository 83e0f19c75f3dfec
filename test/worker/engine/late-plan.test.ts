/** What another worker runs first is planned late when it changes: the change must not get lost. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { TestWorker } from "../../../fixtures/worker/worker-fixture.ts";
import {
  isPutting,
  MINUTE,
  SettableClock,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { delegateStore, type Store } from "../../../src/core/etcd/store.ts";
import { listWorkersBefore } from "../../../src/schedule/hash.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();
const HOUR = 60 * MINUTE;

/** A wall clock that can be wrong for a moment without anyone waking. */
class WrongClock extends SettableClock {
  error = 0;

  override getWallTime() {
    return super.getWallTime() + this.error;
  }
}

let clock: WrongClock;
let fixture: WorkerFixture;
let started: string[];
/** Called before a change is delivered, and after it was applied. */
let handleDelivery: (isApplied: boolean) => void;
let worker: TestWorker;
/** Whether the next heartbeat waits: after it, changes are planned at once. */
let holdsHeartbeats: boolean;
let heartbeats: PromiseWithResolvers<void>;
/** A schedule that another worker, which does nothing, runs first. */
let id: string;
beforeEach(async () => {
  clock = new WrongClock(START);
  started = [];
  handleDelivery = () => {};
  const watch: Store["watch"] = async function* (request, signal) {
    for await (const batch of cluster.store.watch(request, signal)) {
      handleDelivery(false);
      yield batch;
      handleDelivery(true);
    }
  };
  heartbeats = Promise.withResolvers();
  holdsHeartbeats = false;
  let own = "";
  const commitTxn: Store["commitTxn"] = async (txn, signal) => {
    if (holdsHeartbeats && isPutting(txn, fixture.keys.worker(own))) await heartbeats.promise;
    return await cluster.store.commitTxn(txn, signal);
  };
  fixture = new WorkerFixture(delegateStore(cluster.store, { watch, commitTxn }), clock);
  worker = fixture.startWorker(async (task) => {
    started.push(task.id);
    return { result: "ok" };
  });
  own = await worker.waitUntilJoined();
  await fixture.putWorker("idle");
  id =
    Array.from({ length: 100 }, (_, n) => `job${n}`).find(
      (name) => listWorkersBefore(own, ["idle"], name).length === 1,
    ) ?? "";
  await fixture.add(
    id,
    { cron: `@at ${new Date(START + 2 * HOUR).toISOString()}` },
    { start: START + 2 * HOUR },
  );
  await applied();
});
afterEach(async () => {
  heartbeats.resolve();
  await fixture.close();
});

/** Waits until the worker knows what was written until now: both states are in one range of the watch. */
async function applied() {
  const mark = `mark${started.length}`;
  const before = started.length;
  const start = clock.getWallTime();
  await fixture.add(mark, { cron: `@at ${new Date(start).toISOString()}` }, { start });
  await waitUntil(mark, () => started.length > before);
}

const bringForward = () =>
  fixture.put(fixture.keys.due(id), formatDue({ next: START, runAt: START, open: [] }));

test("a change that arrives while the clock is wrong", async () => {
  holdsHeartbeats = true;
  const delivered = Promise.withResolvers<void>();
  handleDelivery = (isApplied) => {
    clock.error = isApplied ? 0 : HOUR;
    if (isApplied) delivered.resolve();
  };
  await bringForward();
  await delivered.promise;
  handleDelivery = () => {};
  await waitUntil("start", () => started.includes(id));
});

test("a change after which the clock is set back", async () => {
  await bringForward();
  clock.advance(-MINUTE);
  await applied();
  expect(started).not.toContain(id);
  clock.advance(MINUTE);
  await waitUntil("start", () => started.includes(id));
});

test("a change after which the first worker leaves", async () => {
  await bringForward();
  await fixture.delete(fixture.keys.worker("idle"));
  await waitUntil("start", () => started.includes(id));
});

test("a change after which the first worker is drained", async () => {
  await bringForward();
  await fixture.put(fixture.keys.drain("host", "h2.example.com"), "{}");
  await waitUntil("start", () => started.includes(id));
});

test("a change after which this worker gets other handlers", async () => {
  await bringForward();
  worker.engine.reload({
    types: ["/.*/"],
    find: () => ({
      run: async (task) => ({ result: started.push(`${task.id} anew`) > 0 ? "ok" : "failed" }),
    }),
  });
  await waitUntil("start", () => started.some((one) => one.startsWith(id)));
});

test("several changes, of which the last one counts", async () => {
  await bringForward();
  await fixture.put(fixture.keys.due(id), formatDue({ next: START + HOUR, runAt: START + HOUR, open: [] }));
  await applied();
  clock.advance(MINUTE);
  await applied();
  expect(started).not.toContain(id);
  clock.advance(HOUR);
  await waitUntil("start", () => started.includes(id));
});

test("a schedule that is removed and added again", async () => {
  await bringForward();
  await fixture.delete(fixture.keys.schedule(id), fixture.keys.due(id));
  await fixture.add(id, { cron: `@at ${new Date(START).toISOString()}` });
  await waitUntil("start", () => started.includes(id));
});
