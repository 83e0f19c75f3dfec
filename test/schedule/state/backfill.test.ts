/** Backfill: which past occurrences run, how many at a time, and after what is due. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import { createBackfill, startBackfilled } from "../../../src/schedule/state/backfill.ts";
import type { DueState, OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { findNextCandidate } from "../../../src/schedule/state/next-candidate.ts";
import { startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import { createTiming } from "../../../src/schedule/timing.ts";

const HOUR = 3_600_000;
const definition: Definition = { cron: "0 * * * *", timezone: "UTC", overlap: "allow" };
const timing = createTiming("a", definition);
const NOW = 100 * HOUR + 1;
const NONE = new Set<number>();

function fill(from: number, to: number, parallel = 1) {
  const backfill = createBackfill(timing, { from, to, parallel }, NOW);
  if (backfill === undefined) throw new Error("nothing to fill");
  return { next: 101 * HOUR, runAt: 101 * HOUR, open: [], backfill } satisfies DueState;
}

test.each<[string, number, number, [number, number, number] | undefined]>([
  ["both ends count", 3 * HOUR, 5 * HOUR, [3, 5, 3]],
  ["between two", 3 * HOUR + 1, 5 * HOUR - 1, [4, 4, 1]],
  ["none", 3 * HOUR + 1, 4 * HOUR - 1, undefined],
])("its occurrences: %s", (_, from, to, expected) => {
  const backfill = createBackfill(timing, { from, to, parallel: 1 }, NOW);
  expect(backfill && [backfill.next / HOUR, backfill.until / HOUR, backfill.total]).toEqual(expected);
});

test("each starts once, in order, and the last one ends it", () => {
  let due: DueState = fill(3 * HOUR, 5 * HOUR);
  const times: number[] = [];
  for (let candidate = findNextCandidate(definition, due, NONE, NOW); candidate?.isBackfilled; ) {
    const start = startOccurrence(definition, timing, due, candidate, NOW);
    expect(start.occurrence).toMatchObject({ kind: "backfill", runAt: NOW, attempt: 1 });
    times.push((start.occurrence?.scheduled ?? 0) / HOUR);
    due = { ...start.due, open: [] };
    candidate = findNextCandidate(definition, due, NONE, NOW);
  }
  expect(times).toEqual([3, 4, 5]);
  expect(due).toEqual({ next: 101 * HOUR, runAt: 101 * HOUR, open: [] });
});

describe("what comes first", () => {
  const open = (kind: OpenOccurrence["kind"], runAt: number): OpenOccurrence => ({
    scheduled: runAt,
    runAt,
    attempt: 1,
    failures: 1,
    kind,
  });
  const due = fill(3 * HOUR, 50 * HOUR, 2);
  test.each<[string, DueState, Partial<Definition>, object | undefined]>([
    ["the backfill, before what is due later", due, {}, { isBackfilled: true }],
    ["the next occurrence that is due", { ...due, runAt: NOW }, {}, { runAt: NOW }],
    ["a trigger", { ...due, open: [open("trigger", NOW)] }, {}, { open: { kind: "trigger" } }],
    ["a retry of its own", { ...due, open: [open("backfill", NOW)] }, {}, { open: { kind: "backfill" } }],
    [
      "one more, beside one that waits",
      { ...due, open: [open("backfill", NOW + 9)] },
      {},
      { isBackfilled: true },
    ],
    [
      "no more than may run at a time",
      { ...due, open: [open("backfill", NOW + 8), open("backfill", NOW + 9)] },
      {},
      { runAt: NOW + 8 },
    ],
    ["nothing in a pause", due, { pause: { by: "ann", at: 1 } }, undefined],
  ])("%s", (_, state, change, expected) => {
    const found = findNextCandidate({ ...definition, ...change }, state, NONE, NOW);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

test("an occurrence that is open already is not started again", () => {
  const due = fill(3 * HOUR, 4 * HOUR);
  const open: OpenOccurrence = { scheduled: 3 * HOUR, runAt: 0, attempt: 1, failures: 1, kind: "due" };
  const { due: after, occurrence } = startBackfilled({ ...due, open: [open] }, timing, NOW);
  expect(occurrence).toBeUndefined();
  expect(after).toMatchObject({ open: [open], backfill: { next: 4 * HOUR, started: 1 } });
});
