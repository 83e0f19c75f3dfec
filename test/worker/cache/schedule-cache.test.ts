import { expect, test } from "vitest";
import { IDLE_WORKER } from "../../../fixtures/worker/worker-fixture.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { KeyValue, WatchEvent } from "../../../src/core/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { buildStateName, formatDue } from "../../../src/schedule/state/due.ts";
import { formatRunning, formatWorker } from "../../../src/schedule/state/running-record.ts";
import type { CachedSchedule } from "../../../src/worker/cache/cached-schedule.ts";
import { ScheduleCache } from "../../../src/worker/cache/schedule-cache.ts";

const keys = createKeys("/x/");
const NOW = 1_000;

function createCache(host?: string, handleWorkersChange?: () => void) {
  const ignore = () => {};
  const listener = {
    handleScheduleChange: ignore,
    handleClaim: ignore,
    handleWorkerChange: ignore,
    ...(handleWorkersChange && { handleWorkersChange }),
    handleRulesChange: ignore,
  };
  return new ScheduleCache(keys, () => NOW, listener, host);
}

const toKeyValue = (
  key: string,
  value: string,
  modRevision: bigint,
  createRevision = modRevision,
): KeyValue => ({
  key,
  value,
  createRevision,
  modRevision,
  session: 0n,
});
const toPut = (...kv: Parameters<typeof toKeyValue>): WatchEvent => ({ type: "put", kv: toKeyValue(...kv) });

function read(cache: ScheduleCache, revision: bigint, ...kvs: KeyValue[]) {
  cache.begin();
  for (const kv of kvs) cache.add(kv);
  cache.finish(revision);
}

const SINGLE: Definition = { cron: "* * * * *", timezone: "UTC" };
const EVERY: Definition = { ...SINGLE, on: "every-host" };
const DUE = formatDue({ next: 5, runAt: 5, open: [] });
const getOwn = (cache: ScheduleCache) => cache.entries.get(buildStateName("job", "web1"));

test("a guard on rules refuses keys newer than its own range, independent of other ranges", () => {
  const cache = createCache();
  read(cache, 10n);
  // The events of one range may arrive after later ones of another.
  cache.apply({ revision: 14n, events: [toPut(keys.group("web"), "[]", 14n)] });
  cache.apply({ revision: 13n, events: [toPut(keys.worker("w"), "{}", 13n)] });
  expect(cache.guardRules(keys.groups())).toEqual([
    { ...keys.groups(), target: "mod", is: "less", value: 15n },
  ]);
  expect(cache.guardRules(keys.drains())).toEqual([
    { ...keys.drains(), target: "mod", is: "less", value: 11n },
  ]);
  read(cache, 20n);
  expect(cache.guardRules(keys.drains(), keys.groups()).map(({ value }) => value)).toEqual([21n, 21n]);
});

test("a schedule that runs on every host can be started only by the state of this host", () => {
  const cache = createCache("web1");
  const others = [
    toKeyValue(keys.due("job", "web2"), DUE, 2n),
    toKeyValue(keys.due("job", "web1"), DUE, 3n),
    toKeyValue(keys.due("job"), DUE, 1n),
  ];
  read(cache, 10n, ...others, toKeyValue(keys.schedule("job"), formatDefinition(EVERY), 1n));
  expect(cache.entries.size).toBe(2);
  expect(cache.entries.get("job")).toMatchObject({ definition: undefined, dueMod: 1n });
  expect(getOwn(cache)).toMatchObject({ host: "web1", definition: EVERY, dueMod: 3n });

  cache.apply({ revision: 11n, events: [toPut(keys.schedule("job"), formatDefinition(SINGLE), 11n, 1n)] });
  expect(cache.entries.get("job")).toMatchObject({ definition: SINGLE });
  expect(getOwn(cache)).toMatchObject({ definition: undefined });
  cache.apply({
    revision: 12n,
    events: [{ type: "delete", key: keys.due("job", "web1"), revision: 12n }],
  });
  expect(getOwn(cache)).toBeUndefined();
});

test("a program that does not name its host sees no schedule to start", () => {
  const cache = createCache();
  read(cache, 10n, toKeyValue(keys.schedule("job"), formatDefinition(EVERY), 1n));
  expect([...cache.entries.values()].map(({ definition }) => definition)).toEqual([undefined]);
});

test.each([
  ["was there when the worker came: from then on", 10n, 1n, 1n, NOW],
  ["was added while the worker watched: from its first occurrence", 10n, 11n, 11n, undefined],
  ["was changed while the worker watched: from then on", 10n, 11n, 1n, NOW],
] as const)("a schedule that %s", (_, revision, mod, create, since) => {
  const cache = createCache("web1");
  const kv = toKeyValue(keys.schedule("job"), formatDefinition(EVERY), mod, create);
  read(cache, revision, ...(mod <= revision ? [kv] : []));
  if (mod > revision) cache.apply({ revision: mod, events: [{ type: "put", kv }] });
  expect(getOwn(cache)?.since).toBe(since);
});

test("a host whose state was deleted begins again from then on, not with the first occurrence", () => {
  const cache = createCache("web1");
  read(cache, 10n);
  cache.apply({ revision: 11n, events: [toPut(keys.schedule("job"), formatDefinition(EVERY), 11n)] });
  expect(getOwn(cache)?.since).toBeUndefined();
  const key = keys.due("job", "web1");
  cache.apply({ revision: 12n, events: [toPut(key, DUE, 12n)] });
  cache.apply({ revision: 13n, events: [{ type: "delete", key, revision: 13n }] });
  expect(getOwn(cache)).toMatchObject({ dueMod: 0n, since: Number.POSITIVE_INFINITY });
});

test("a schedule that was added while the watch was interrupted begins with its first occurrence", () => {
  const cache = createCache("web1");
  read(cache, 10n);
  read(cache, 20n, toKeyValue(keys.schedule("job"), formatDefinition(EVERY), 15n));
  expect(getOwn(cache)).toMatchObject({ since: undefined });
});

test("runs on this host, and those from before, keep it from starting here; those on other hosts do not", () => {
  const cache = createCache("web1");
  const value = formatRunning({
    run: "r",
    worker: "w",
    host: "h",
    since: 1,
    scheduled: 1,
    attempt: 1,
  } as never);
  const running = [
    keys.running("job"),
    keys.runningOnHost("job", "web1", 1),
    keys.runningOnHost("job", "web2", 1),
  ];
  read(
    cache,
    10n,
    ...running.map((key) => toKeyValue(key, value, 2n)),
    toKeyValue(keys.schedule("job"), formatDefinition(EVERY), 1n),
  );
  expect([...(getOwn(cache)?.running.keys() ?? [])]).toEqual(running.slice(0, 2));
  // If it runs on one host again, it waits for the runs of all.
  expect(cache.entries.get("job")?.running.size).toBe(3);
  cache.deleteRunning("job", keys.runningOnHost("job", "web1", 1), 2n);
  expect([...(getOwn(cache)?.running.keys() ?? [])]).toEqual(running.slice(0, 1));
  expect(cache.entries.get("job")?.running.size).toBe(2);
});

/** The state of a schedule that a worker runs. */
const STARTED = formatDue({
  runAt: 5,
  open: [
    {
      scheduled: 5,
      runAt: 5,
      attempt: 1,
      failures: 0,
      kind: "due",
      session: { worker: "w", run: "r", ttl: 30 },
    },
  ],
});

test("the state says which worker has started what runs, until the worker goes; only a definition is reported as one", () => {
  const claims: string[] = [];
  const changes: boolean[] = [];
  const listener = {
    handleScheduleChange: (_: unknown, isDefinition: boolean) => void changes.push(isDefinition),
    handleClaim: (worker: string) => void claims.push(worker),
  };
  let now = NOW;
  const cache = new ScheduleCache(keys, () => now, listener);
  read(cache, 10n, toKeyValue(keys.worker("w"), formatWorker({ ...IDLE_WORKER, wall: NOW }), 5n));
  cache.apply({ revision: 11n, events: [toPut(keys.schedule("job"), formatDefinition(SINGLE), 11n)] });
  cache.apply({ revision: 12n, events: [toPut(keys.due("job"), STARTED, 12n)] });
  expect({ claims, changes }).toEqual({ claims: ["w"], changes: [true, false] });
  const entry = cache.entries.get("job") as CachedSchedule;
  expect([...cache.listRunning(entry)]).toEqual([5]);
  now = 2 * NOW;
  cache.apply({ revision: 13n, events: [{ type: "delete", key: keys.worker("w"), revision: 13n }] });
  expect(cache.listRunning(entry).size).toBe(0);
  expect({ changes, freeSince: entry.freeSince }).toEqual({ changes: [true, false, false], freeSince: now });
});

test("a record of a worker that states another time leaves the ranks of all; what it can claim, and its end, do not", () => {
  let changes = 0;
  const cache = createCache("web1", () => {
    changes += 1;
  });
  read(cache, 10n);
  let revision = 10n;
  const putRecord = (change: object) => {
    revision += 1n;
    const value = formatWorker({ ...IDLE_WORKER, wall: NOW, ...change });
    cache.apply({ revision, events: [toPut(keys.worker("w"), value, revision)] });
    return changes;
  };
  expect(putRecord({ isJoining: true })).toBe(1);
  expect(putRecord({})).toBe(2);
  expect(putRecord({ wall: NOW + 15_000, beat: 7, running: 3, clock: "warns" })).toBe(2);
  expect(putRecord({ clock: "refuses" })).toBe(3);
  expect(putRecord({ types: ["report"] })).toBe(4);
  expect(putRecord({ types: ["report"], host: "web2" })).toBe(5);
  expect(putRecord({ types: ["report"], host: "web2", isLeaving: true })).toBe(6);
  cache.apply({ revision: 30n, events: [{ type: "delete", key: keys.worker("w"), revision: 30n }] });
  expect(changes).toBe(7);
});

test("a running key that has ended while it was read does not come back", async () => {
  const cache = createCache();
  read(cache, 10n);
  const [gone, there] = [keys.running("job", 1), keys.running("job", 2)];
  await cache.addRunning(async () => {
    cache.apply({ revision: 12n, events: [{ type: "delete", key: gone, revision: 12n }] });
    return { kvs: [toKeyValue(gone, "{}", 11n), toKeyValue(there, "{}", 11n)] };
  });
  expect([...(cache.entries.get("job")?.running.keys() ?? [])]).toEqual([there]);
  await cache.addRunning(async () => {
    read(cache, 13n);
    return { kvs: [toKeyValue(there, "{}", 11n)] };
  });
  expect(cache.entries.has("job")).toBe(false);
});

test("of several states, the last one counts, also if it cannot be read", () => {
  const cache = createCache();
  read(cache, 10n, toKeyValue(keys.due("job"), DUE, 5n));
  cache.apply({ revision: 12n, events: [toPut(keys.due("job"), "{", 12n)] });
  expect(cache.entries.get("job")).toMatchObject({ due: undefined, dueMod: 12n });
  cache.apply({ revision: 13n, events: [toPut(keys.due("job"), DUE, 13n)] });
  expect(cache.entries.get("job")?.due).toEqual({ next: 5, runAt: 5, open: [] });
});
