/** Workers delete audit records and histories that have expired, and nothing else, on a real etcd. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createHistoryKey } from "../../../fixtures/state/sample-snapshots.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { isDeleting, returnOk, START, WorkerFixture } from "../../../fixtures/worker/worker-fixture.ts";
import { type LogFields, silentLog } from "../../../src/core/base/log.ts";
import { delegateStore, StoreError } from "../../../src/core/etcd/store.ts";
import { formatAuditTime } from "../../../src/core/protocol/audit.ts";
import type { ScheduleWorkerOptions } from "../../../src/worker/engine/schedule-worker.ts";
import type { SchedulePorts } from "../../../src/worker/worker-ports.ts";

const DAY = 86_400_000;
const LIMITS = { age: 90 * DAY, count: 300 };
const cluster = TestCluster.startForFile();

/** Its workers have limits, and state what they have deleted. */
class RetentionFixture extends WorkerFixture {
  readonly deleted: LogFields[] = [];
  readonly refused: LogFields[] = [];

  override createPorts(): SchedulePorts {
    const info = (message: string, fields: LogFields = {}) => {
      if (message === "expired records deleted") this.deleted.push(fields);
      if (message.startsWith("this worker's role")) this.refused.push(fields);
    };
    return {
      ...super.createPorts(),
      log: { ...silentLog, info },
      settings: { connectTimeout: 5_000, retention: LIMITS },
    };
  }

  startPruner(host: string, options: Partial<ScheduleWorkerOptions> = {}) {
    return this.startWorker(returnOk, { host, pruneEvery: 200, ...options });
  }

  countDeleted(kind: string) {
    return this.deleted.reduce((sum, one) => sum + (one.kind === kind ? Number(one.records) : 0), 0);
  }

  /** Writes audit records of these ages in days, the oldest first. */
  async putAudit(ages: readonly number[]) {
    for (let start = 0; start < ages.length; start += 100) {
      const part = ages.slice(start, start + 100).flatMap((age, index) => {
        const chance = String(start + index).padStart(10, "0");
        return [this.keys.audit(formatAuditTime(START - age * DAY) + chance), `{"age":${age}}`];
      });
      await this.put(...part);
    }
  }

  async putHistory(name: string, age: number) {
    const endedAt = START - age * DAY;
    await this.put(this.keys.history(name), createHistoryKey(name, { endedAt }).value);
  }

  async listNames(range: Parameters<typeof this.store.readRange>[0]) {
    return (await this.store.readRange(range)).kvs.flatMap(({ key }) => {
      const parsed = this.keys.parse(key);
      return "name" in parsed ? [parsed.name] : [];
    });
  }

  async countAudit() {
    return (await this.store.readRange({ ...this.keys.audits(), limit: 1 })).count;
  }
}

let fixture: RetentionFixture;
beforeEach(() => {
  fixture = new RetentionFixture(cluster.store);
});
afterEach(() => fixture.close());

const range = (length: number, age: (index: number) => number) => Array.from({ length }, (_, at) => age(at));

test("two workers delete what has expired, each record once, and nothing that is needed", async () => {
  await fixture.putAudit([...range(250, () => 100), ...range(400, (at) => 80 - at / 10)]);
  for (const [name, age] of [
    ["idle", 120],
    ["used", 120],
    ["weekly", 7],
  ] as const)
    await fixture.putHistory(name, age);
  await fixture.putHistory("slow-clock", 9_000);
  const { keys } = fixture;
  await fixture.put(keys.lock("used", "0123456789ab"), "{}");
  const outcome = { scheduled: 1, endedAt: START - 400 * DAY, result: "failed" };
  const outcomes = JSON.stringify({ v: 1, runs: [outcome], dead: [outcome] });
  await fixture.put(keys.outcomes("dead"), outcomes, keys.drain("all", "x"), "{}");
  await fixture.add("paused", { pause: { by: "ann@ops", at: 0 } });
  const [one, other] = [fixture.startPruner("h1.example.com"), fixture.startPruner("h2.example.com")];
  await Promise.all([one.waitUntilJoined(), other.waitUntilJoined()]);
  await waitUntil("300 audit records", async () => (await fixture.countAudit()) === 300);
  await waitUntil("one history less", async () => (await fixture.listNames(keys.histories())).length === 3);
  await pause(1_000); // more passes, of both
  expect([fixture.countDeleted("audit"), fixture.countDeleted("history")]).toEqual([350, 1]);
  expect(await fixture.countAudit()).toBe(300);
  expect(await fixture.listNames(keys.histories())).toEqual(["slow-clock", "used", "weekly"]);
  expect((await fixture.readOutcomes("dead")).dead).toHaveLength(1);
  expect(await fixture.listNames(keys.schedules())).toEqual(["paused"]);
  expect(await fixture.listNames(keys.drains())).toEqual(["x"]);
});

test("another worker goes on when one vanishes, and when etcd was away", async () => {
  await fixture.putAudit([...range(3_000, () => 100), ...range(200, () => 1)]);
  const one = fixture.startPruner("h1.example.com");
  await waitUntil("a first deletion", async () => (await fixture.countAudit()) < 3_200);
  await one.stop();
  const left = await fixture.countAudit();
  expect(left).toBeGreaterThan(200);
  const other = fixture.startPruner("h2.example.com");
  await waitUntil("another deletion", async () => (await fixture.countAudit()) < left);
  await cluster.etcd.kill();
  await pause(500);
  await cluster.etcd.restart();
  await waitUntil("the end", async () => (await fixture.countAudit()) === 200);
  expect(other.engine.id).toBeDefined();
});

test("a worker that may not delete the audit deletes histories, says so once, and works", async () => {
  await fixture.putAudit(range(20, () => 100));
  await fixture.putAudit([1]);
  await fixture.putHistory("idle", 120);
  await fixture.putHistory("weekly", 7);
  let refusals = 0;
  const store = delegateStore(cluster.store, {
    commitTxn: (txn, signal) => {
      if (!isDeleting(txn, "/audit/")) return cluster.store.commitTxn(txn, signal);
      refusals += 1;
      return Promise.reject(new StoreError("permission", "permission denied"));
    },
  });
  fixture = new RetentionFixture(store, fixture.clock, fixture.keys);
  const worker = fixture.startPruner("h1.example.com");
  const { keys } = fixture;
  await waitUntil("one history less", async () => (await fixture.listNames(keys.histories())).length === 1);
  const before = refusals; // 2 if it was in a batch, whose members are then sent alone
  await pause(600);
  expect([refusals, fixture.refused]).toEqual([before, [{ kind: "audit" }]]);
  await fixture.add("x");
  expect(await worker.waitForOutcomes(1)).toMatchObject([{ result: "ok" }]);
  expect(await fixture.countAudit()).toBe(21);
});

test("a clock that is far from those of etcd's members deletes nothing", async () => {
  await fixture.putAudit(range(20, () => 100));
  await fixture.putAudit([1]);
  const apart = async () => [{ endpoint: "m1", least: -30 * DAY, most: -30 * DAY }];
  const worker = fixture.startPruner("h1.example.com", { readMemberClocks: apart });
  await worker.waitUntilJoined();
  await pause(800);
  expect(await fixture.countAudit()).toBe(21);
  fixture.startPruner("h2.example.com");
  await waitUntil("the end, by another one", async () => (await fixture.countAudit()) === 1);
});

test("outcomes that are older than the age go when the next one is stored; the newest stay", async () => {
  const ended = (age: number, result: string) => ({ scheduled: 1, endedAt: START - age * DAY, result });
  const runs = [ended(10, "failed"), ended(80, "ok"), ended(95, "ok"), ended(200, "ok")];
  await fixture.add("x");
  await fixture.put(fixture.keys.outcomes("x"), JSON.stringify({ v: 1, runs, dead: [ended(300, "failed")] }));
  const worker = fixture.startPruner("h1.example.com");
  await worker.waitForOutcomes(1);
  const left = await waitUntil("the outcome", async () => {
    const outcomes = await fixture.readOutcomes("x");
    return outcomes.runs[0]?.result === "ok" && outcomes;
  });
  const ages = left.runs.map(({ endedAt }) => Math.round((START - endedAt) / DAY) + 0);
  expect([ages.filter((age) => age > 1), left.dead.length]).toEqual([[10, 80], 1]);
});
