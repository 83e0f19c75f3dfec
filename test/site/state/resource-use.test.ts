/** What runs and tasks used of resources, from the histories of locks and schedules. */
import { expect, test } from "vitest";
import { createEndedRun } from "../../../fixtures/state/sample-snapshots.ts";
import type { PastRun } from "../../../src/core/protocol/history.ts";
import type { QueueEntry } from "../../../src/core/protocol/ticket.ts";
import type { OccurrenceOutcome } from "../../../src/schedule/state/outcome.ts";
import { computeResourceUse, listPastUses, type PastUse } from "../../../src/site/state/resource-use.ts";

const past = (change: Partial<PastRun>) =>
  createEndedRun({ run: "r1", enqueuedAt: 100, grantedAt: 150, endedAt: 200, ...change });
const outcome: OccurrenceOutcome = {
  scheduled: 0,
  result: "failed",
  run: "t1",
  host: "web2",
  startedAt: 300,
  endedAt: 500,
  leases: { db: 3 },
  waited: 20,
};
const listUses = (histories: [string, PastRun[]][], only?: string) =>
  listPastUses({ histories: new Map(histories), outcomes: new Map([["mail", [outcome]]]) }, only);

test("a use is listed for each resource, the newest first, and once for a run with several locks", () => {
  const run = past({ leases: { db: 2, mem: 1 } });
  const uses = listUses([
    ["a", [run]],
    ["b", [run, past({ run: "r0" })]],
  ]);
  expect([...uses.keys()].sort()).toEqual(["db", "mem"]);
  expect(uses.get("db")).toEqual([
    {
      subject: "schedule mail",
      run: "t1",
      host: "web2",
      units: 3,
      enqueuedAt: 300,
      grantedAt: 320,
      endedAt: 500,
      result: "failed",
    },
    {
      subject: "lock a",
      run: "r1",
      host: "web1.example.com",
      pid: 4711,
      command: "invoices.sh",
      units: 2,
      enqueuedAt: 100,
      grantedAt: 150,
      endedAt: 200,
      result: "0",
    },
  ]);
  expect([...listUses([["a", [run]]], "mem").keys()]).toEqual(["mem"]);
});

const use = (units: number, enqueuedAt: number, grantedAt: number, endedAt: number): PastUse => ({
  subject: "lock a",
  run: `${units}-${grantedAt}`,
  host: "web1",
  units,
  enqueuedAt,
  grantedAt,
  endedAt,
  result: "0",
});

test("the most units at a time are counted for each part of the span", () => {
  const uses = [use(2, 0, 0, 30), use(3, 10, 20, 30), use(4, 30, 30, 40), use(9, -20, -20, -10)];
  const { steps, waiting, peak, average } = computeResourceUse(uses, [], { from: 0, until: 80 }, 8);
  // At 30, five units are freed and four granted: never nine.
  expect(steps).toEqual([2, 2, 5, 4, 0, 0, 0, 0]);
  expect(waiting).toEqual([0, 3, 0, 0, 0, 0, 0, 0]);
  expect([peak, average]).toEqual([5, (2 * 30 + 3 * 10 + 4 * 10) / 80]);
});

test("a short use shows in its part", () => {
  expect(computeResourceUse([use(1, 41, 41, 42)], [], { from: 0, until: 80 }, 8).steps[4]).toBe(1);
});

test("the tickets of now count until now", () => {
  const entry = (run: string, ticket: object) => ({ run, key: run, ticket }) as QueueEntry;
  const entries = [
    entry("a", { state: "held", count: 2, enqueuedAt: 40, grantedAt: 60 }),
    entry("b", { state: "waiting", count: 5, enqueuedAt: 70 }),
  ];
  const { steps, waiting } = computeResourceUse([], entries, { from: 0, until: 80 }, 8);
  expect(steps).toEqual([0, 0, 0, 0, 0, 0, 2, 2]);
  expect(waiting).toEqual([0, 0, 0, 0, 2, 2, 0, 5]);
});
