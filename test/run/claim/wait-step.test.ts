import { describe, expect, test } from "vitest";
import type { ReadBasis } from "../../../src/protocol/guards.ts";
import { buildWaitStep, type WaitObstacle } from "../../../src/run/wait-step.ts";
import { EMPTY_BASIS, keys } from "../../protocol/samples.ts";
import { createPorts, createView, DB_KEY, LOCK_KEY, REQUESTS, type RequestName, RUN } from "./situations.ts";

const listAhead = (ahead: string) => createView({ ahead }).lockQueues.get(LOCK_KEY)?.queue ?? [];
const listOf = <T>(item: T | undefined) => (item === undefined ? [] : [item]);
const [drain] = createView({ drains: "lock:a" }).inputs.drains;
const [holder, waiter, grace] = listAhead("held waiting grace");
const [sharing] = listAhead("+waiting");
const resource = { resource: "db", count: 2, total: 4, admission: "waiting", vanished: [] as [] } as const;
const config: ReadBasis = { ...EMPTY_BASIS, config: [{ key: keys.resourceConfig("db"), modRevision: 0n }] };
const grouped: ReadBasis = { ...EMPTY_BASIS, groupsMatter: true };

const ports = createPorts();
const own = [{ key: LOCK_KEY }];
const deletes = "deletes" as const;
const dbQueue = { ...keys.getQueueRange("resource", "db"), only: deletes };

describe("what a waiter watches besides its own tickets", () => {
  test.each<[string, RequestName, ReadBasis, WaitObstacle, object[]]>([
    [
      "the holder of the lock",
      "lock",
      EMPTY_BASIS,
      { locksAhead: listOf(holder) },
      [{ key: holder?.key, only: deletes }],
    ],
    [
      "the waiter ahead",
      "lock",
      EMPTY_BASIS,
      { locksAhead: listOf(waiter) },
      [{ key: waiter?.key, only: deletes }],
    ],
    [
      "one ahead that shares",
      "shared",
      EMPTY_BASIS,
      { locksAhead: listOf(sharing) },
      [{ key: sharing?.key }],
    ],
    [
      "one ahead that shares, without sharing",
      "lock",
      EMPTY_BASIS,
      { locksAhead: listOf(sharing) },
      [{ key: sharing?.key, only: deletes }],
    ],
    ["drains", "lock", EMPTY_BASIS, { drains: drain ? [drain] : [] }, [keys.drains()]],
    [
      "groups that drains name",
      "lock",
      grouped,
      { drains: drain ? [drain] : [] },
      [keys.groups(), keys.drains()],
    ],
    [
      "groups that the request names",
      "lock, group",
      EMPTY_BASIS,
      { locksAhead: listOf(holder) },
      [keys.groups(), { key: holder?.key, only: deletes }],
    ],
    [
      "configured totals",
      "lock",
      config,
      { resources: [{ ...resource, ahead: undefined }] },
      [{ key: keys.resourceConfig("db") }, dbQueue],
    ],
    [
      "releases, behind a holder",
      "lock",
      EMPTY_BASIS,
      { resources: [{ ...resource, ahead: holder }] },
      [dbQueue],
    ],
    [
      "only the waiter ahead",
      "lock",
      EMPTY_BASIS,
      { resources: [{ ...resource, ahead: waiter }] },
      [{ key: waiter?.key }],
    ],
  ])("%s", (_, request, basis, obstacle, expected) => {
    const step = buildWaitStep(
      { ports, request: REQUESTS[request] },
      createView({ own: "a:waiting" }),
      basis,
      obstacle,
    );
    expect(step).toMatchObject({ kind: "wait", ranges: [...own, ...expected] });
  });

  test("both own tickets", () => {
    const view = createView({ own: "a:admitted db:waiting" });
    const step = buildWaitStep({ ports, request: REQUESTS.both }, view, EMPTY_BASIS, {
      locksAhead: listOf(holder),
    });
    expect(step).toMatchObject({ ranges: [{ key: LOCK_KEY }, { key: DB_KEY }, { only: deletes }] });
  });
});

test("a wait for several locks watches the drain of each: the run would keep others from the rest", () => {
  const view = createView({ own: "a:admitted b:waiting", aheadOfB: "held" });
  const locksAhead = view.lockQueues.get(keys.lock("b", RUN))?.queue.slice(0, 1) ?? [];
  const step = buildWaitStep({ ports, request: REQUESTS["locks, queue"] }, view, EMPTY_BASIS, { locksAhead });
  const ranges = step.kind === "wait" ? step.ranges : [];
  for (const lock of ["a", "b"]) expect(ranges).toContainEqual({ key: keys.drain("lock", lock) });
});

test("a wait says for which of several locks, and behind whom", () => {
  const view = createView({ own: "a:admitted b:waiting", aheadOfB: "held" });
  const locksAhead = view.lockQueues.get(keys.lock("b", RUN))?.queue.slice(0, 1) ?? [];
  const step = buildWaitStep({ ports, request: REQUESTS["locks, queue"] }, view, EMPTY_BASIS, { locksAhead });
  expect(step).toMatchObject({
    why: expect.stringMatching(/^lock "b" is taken; the ticket ahead is held by /),
  });
});

describe("when an obstacle ends by itself, and how much of a queue is read after a wait without events", () => {
  test.each<[string, WaitObstacle, number | undefined, number]>([
    ["a holder", { locksAhead: listOf(holder) }, undefined, 0],
    ["a grace", { locksAhead: listOf(grace) }, 1_100, 0],
    ["a drain without an end", { drains: drain ? [drain] : [] }, undefined, 0],
    [
      "the earliest of two drains",
      {
        drains: drain
          ? [
              { ...drain, until: 700 },
              { ...drain, until: 300 },
            ]
          : [],
      },
      300,
      0,
    ],
    ["units: twice what fits, and 16", { resources: [{ ...resource, ahead: holder }] }, undefined, 20],
    [
      "the larger of two",
      {
        resources: [
          { ...resource, ahead: holder },
          { ...resource, total: 40, ahead: holder },
        ],
      },
      undefined,
      56,
    ],
  ])("%s: until %s, depth %s", (_, obstacle, until, depth) => {
    const view = createView({ own: "a:waiting" });
    expect(buildWaitStep({ ports, request: REQUESTS.lock }, view, EMPTY_BASIS, obstacle)).toMatchObject({
      until,
      depth,
    });
  });
});
