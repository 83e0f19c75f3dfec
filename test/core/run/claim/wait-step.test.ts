import { describe, expect, test } from "vitest";
import { EMPTY_BASIS, keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createPorts,
  createView,
  DB_KEY,
  LOCK_KEY,
  REQUESTS,
  type RequestName,
  RUN,
} from "../../../../fixtures/protocol/situations.ts";
import type { Drain } from "../../../../src/core/protocol/drain.ts";
import type { ReadBasis } from "../../../../src/core/protocol/guards.ts";
import type { QueueEntry } from "../../../../src/core/protocol/ticket.ts";
import { buildWaitStep, type WaitObstacle } from "../../../../src/core/run/decide.ts";

const ahead = createView({ ahead: "held waiting grace +waiting" }).lockQueues.get(LOCK_KEY);
type Entries = readonly [QueueEntry, QueueEntry, QueueEntry, QueueEntry];
const [holder, waiter, grace, sharing] = (ahead?.queue ?? []) as Entries;
const [drain] = createView({ drains: "lock:a" }).inputs.drains as [Drain];
const units = { resource: "db", count: 2, total: 4, admission: "waiting" } as const;
const resource = { ...units, vanished: [] as [], ahead: undefined };
const config = [{ key: keys.resourceConfig("db"), modRevision: 0n }];
const ports = createPorts();
const behindHolder: WaitObstacle = { locksAhead: [holder] };
const deletesOf = ({ key }: QueueEntry) => ({ key, only: "deletes" });
const dbQueue = { ...keys.getQueueRange("resource", "db"), only: "deletes" };

/** Builds the step of a run that waits for lock a by default. */
function build(
  obstacle: WaitObstacle,
  basis: Partial<ReadBasis> = {},
  name: RequestName = "lock",
  own = "a:waiting",
) {
  const attempt = { ports, request: REQUESTS[name] };
  return buildWaitStep(attempt, createView({ own }), { ...EMPTY_BASIS, ...basis }, obstacle);
}

describe("what a waiter watches besides its own ticket", () => {
  test.each<[string, object[], ...Parameters<typeof build>]>([
    ["the holder of the lock", [deletesOf(holder)], behindHolder],
    ["the grant of the waiter ahead", [{ key: waiter.key }], { locksAhead: [waiter] }],
    ["one ahead that shares", [{ key: sharing.key }], { locksAhead: [sharing] }, {}, "shared"],
    ["one ahead that shares, without sharing", [deletesOf(sharing)], { locksAhead: [sharing] }],
    ["drains", [keys.drains()], { drains: [drain] }],
    ["groups that drains name", [keys.groups(), keys.drains()], { drains: [drain] }, { groupsMatter: true }],
    ["groups that the request names", [keys.groups(), deletesOf(holder)], behindHolder, {}, "lock, group"],
    [
      "configured totals",
      [{ key: keys.resourceConfig("db") }, dbQueue],
      { resources: [resource] },
      { config },
    ],
    ["releases, behind a holder", [dbQueue], { resources: [{ ...resource, ahead: holder }] }],
    ["only the waiter ahead", [{ key: waiter.key }], { resources: [{ ...resource, ahead: waiter }] }],
  ])("%s", (_, expected, ...built) => {
    expect(build(...built)).toMatchObject({ kind: "wait", ranges: [{ key: LOCK_KEY }, ...expected] });
  });

  test("both own tickets", () => {
    const ranges = [{ key: LOCK_KEY }, { key: DB_KEY }, deletesOf(holder)];
    expect(build(behindHolder, {}, "both", "a:admitted db:waiting")).toMatchObject({ ranges });
  });
});

test("a wait for several locks says for which and behind whom, and watches the drain of each: the run would keep others from the rest", () => {
  const view = createView({ own: "a:admitted b:waiting", aheadOfB: "held" });
  const locksAhead = view.lockQueues.get(keys.lock("b", RUN))?.queue.slice(0, 1) ?? [];
  const step = buildWaitStep({ ports, request: REQUESTS["locks, queue"] }, view, EMPTY_BASIS, { locksAhead });
  const drains = ["a", "b"].map((lock) => ({ key: keys.drain("lock", lock) }));
  expect(step).toMatchObject({
    ranges: expect.arrayContaining(drains),
    why: expect.stringMatching(/^lock "b" is taken; the ticket ahead is held by /),
  });
});

describe("when an obstacle ends by itself, and how much of a queue is read after a wait without events", () => {
  const near = { ...resource, ahead: holder };
  test.each<[string, WaitObstacle, number | undefined, number]>([
    ["a holder", behindHolder, undefined, 0],
    ["a grace", { locksAhead: [grace] }, 1_100, 0],
    ["a drain without an end", { drains: [drain] }, undefined, 0],
    ["the earliest of two drains", { drains: [700, 300].map((until) => ({ ...drain, until })) }, 300, 0],
    ["units: twice what fits, and 16", { resources: [near] }, undefined, 20],
    ["the larger of two", { resources: [near, { ...near, total: 40 }] }, undefined, 56],
  ])("%s: until %s, depth %s", (_, obstacle, until, depth) => {
    expect(build(obstacle)).toMatchObject({ until, depth });
  });
});
