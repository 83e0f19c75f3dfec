import { expect, test } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import {
  IDLE_WORKER,
  MINUTE,
  SettableClock,
  START,
  WorkerFixture,
} from "../../../fixtures/worker/worker-fixture.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { VanishedTickets } from "../../../src/core/run/vanished-tickets.ts";
import { forgetSession } from "../../../src/schedule/state/complete-occurrence.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import { load } from "../../../src/site/observe/read.ts";
import { ScheduleCache } from "../../../src/worker/cache/schedule-cache.ts";
import { findClaimCandidate } from "../../../src/worker/claims/claim-candidate.ts";
import { type ClaimContext, claimOccurrence } from "../../../src/worker/claims/claim-occurrence.ts";
import { ConditionGate } from "../../../src/worker/claims/condition-gate.ts";
import { WorkerRegistration } from "../../../src/worker/registration/worker-registration.ts";

/** A worker that has read all schedules. */
async function joinWorker(fixture: WorkerFixture) {
  const { clock, keys } = fixture;
  const ports = { ...fixture.createPorts(), random: realRandom };
  const ignore = () => {};
  const listener = {
    handleScheduleChange: ignore,
    handleClaim: ignore,
    handleWorkerChange: ignore,
    handleRulesChange: ignore,
  };
  const cache = new ScheduleCache(keys, () => clock.getWallTime(), listener);
  await load(ports, cache);
  const registration = await WorkerRegistration.join(
    ports,
    30,
    () => IDLE_WORKER,
    new AbortController().signal,
  );
  const vanished = new VanishedTickets(clock);
  const conditions = new ConditionGate("h", () => undefined, ports);
  const context: ClaimContext = { ports, registration, cache, vanished, conditions, host: "h", pid: 1 };
  return { cache, context, registration };
}

/** A worker that is about to claim a schedule which has missed three occurrences, so that it reads the outcomes first. */
async function setUp(
  whileOutcomesAreRead: (cache: ScheduleCache, fixture: WorkerFixture) => Promise<unknown>,
) {
  const clock = new SettableClock(START);
  const store = MemoryStore.create(clock);
  const fixture = new WorkerFixture(store, clock);
  const { keys } = fixture;
  await fixture.add("a", { catchup: "latest" });
  const { cache, context, registration } = await joinWorker(fixture);
  clock.advance(3 * MINUTE);
  const entry = cache.entries.get("a");
  const candidate = entry && findClaimCandidate(context, entry, clock.getWallTime());
  if (entry === undefined || candidate === undefined) throw new Error("nothing is due");
  const read = store.readRange.bind(store);
  store.readRange = async (range, signal) => {
    if (range.key === keys.outcomes("a")) await whileOutcomesAreRead(cache, fixture);
    return await read(range, signal);
  };
  const result = await claimOccurrence(context, entry, candidate);
  await registration.leave();
  return { fixture, result };
}

test("claims the latest occurrence, and stores those that it skips", async () => {
  const { fixture, result } = await setUp(async () => {});
  expect(result).toMatchObject({ kind: "claimed", claimed: { open: { scheduled: START + 3 * MINUTE } } });
  expect((await fixture.readOutcomes("a")).runs).toMatchObject([{ result: "skipped", count: 3 }]);
});

test("claims nothing when a later schema version is required since it read", async () => {
  const { fixture, result } = await setUp((_, one) => one.put(one.keys.schema("0002"), ""));
  expect(result).toEqual({ kind: "missed", isOutdated: false });
  expect(await fixture.listRunning()).toEqual([]);
});

test("does not overwrite a state that arrives while the outcomes are read", async () => {
  const later = { next: START + 4 * MINUTE, runAt: START + 4 * MINUTE, open: [] };
  const { fixture, result } = await setUp(async (cache, one) => {
    const { keys, store } = one;
    await one.put(keys.due("a"), formatDue(later));
    const { kvs } = await store.readRange({ key: keys.due("a") });
    for (const kv of kvs) cache.applyPut(kv);
  });
  expect(result).toEqual({ kind: "missed", isOutdated: true });
  expect(await fixture.readDue("a")).toEqual(later);
});

test("does not claim under a drain that arrives while the outcomes are read", async () => {
  const { fixture, result } = await setUp(async (cache, { keys, store }) => {
    const drain = { op: "put", key: keys.drain("all", "all"), value: "{}" } as const;
    const { revision } = await store.commitTxn({ compare: [], success: [drain], failure: [] });
    cache.apply({ revision, events: [] });
  });
  expect(result).toEqual({ kind: "missed", isOutdated: false });
  expect(await fixture.listRunning()).toEqual([]);
});

/** A worker whose task runs, and another one whose cache has the state after its claim. */
async function setUpRace() {
  const clock = new SettableClock(START);
  const store = MemoryStore.create(clock);
  const fixture = new WorkerFixture(store, clock);
  const { keys } = fixture;
  await fixture.add("a");
  const [first, second] = [await joinWorker(fixture), await joinWorker(fixture)];
  const claim = async ({ cache }: typeof first, context: ClaimContext) => {
    const entry = cache.entries.get("a");
    const candidate = entry && findClaimCandidate(context, entry, clock.getWallTime());
    if (entry === undefined || candidate === undefined) throw new Error("nothing is due");
    return await claimOccurrence(context, entry, candidate);
  };
  store.etcd.electLeader(); // a former leader may revoke the sessions of both
  clock.advance(MINUTE);
  expect(await claim(first, first.context)).toMatchObject({ kind: "claimed" });
  const deliverState = async () => {
    for (const kv of (await store.readRange({ key: keys.due("a") })).kvs) second.cache.applyPut(kv);
  };
  await deliverState();
  const claimSecond = (more: Partial<ClaimContext> = {}) => claim(second, { ...second.context, ...more });
  /** Deletes a key, and lets the watch of the second worker show it. */
  const remove = async (key: string) => {
    await fixture.delete(key);
    const { revision } = await store.readRange({ key });
    second.cache.apply({ revision, events: [{ type: "delete", key, revision }] });
  };
  const worker = keys.worker(first.registration.id);
  const leave = () => Promise.all([first.registration.leave(), second.registration.leave()]);
  return { fixture, claimSecond, deliverState, leave, remove, worker };
}

test("counts the time of a lost start only from a read that shows that its running key is missing", async () => {
  const { fixture, claimSecond, leave, remove, worker } = await setUpRace();
  const clock = new ManualClock();
  const vanished = new VanishedTickets(clock);
  await expect(claimSecond({ vanished }), "its worker is there").rejects.toThrow("nothing is due");
  await remove(worker);
  expect(await claimSecond({ vanished })).toEqual({ kind: "missed", isOutdated: true });
  await expect(claimSecond({ vanished }), "its running key is there").rejects.toThrow("nothing is due");
  await clock.advance(MINUTE); // the first worker renews its session, and its task goes on
  await remove(fixture.keys.running("a"));
  expect(await claimSecond({ vanished })).toEqual({ kind: "missed", until: expect.any(Number) });
  await leave();
});

test("claims nothing beside a task whose start the state does not name, as versions before marks write it", async () => {
  const { fixture, claimSecond, deliverState, leave } = await setUpRace();
  const due = await fixture.readDue("a");
  const open = due.open.map(forgetSession);
  await fixture.put(fixture.keys.due("a"), formatDue({ ...due, open }));
  await deliverState();
  expect(await claimSecond()).toEqual({ kind: "missed", isOutdated: true });
  await expect(claimSecond(), "it has read the running key").rejects.toThrow("nothing is due");
  expect(await fixture.listRunning()).toHaveLength(1);
  await leave();
});
