/** The state of a schedule after an occurrence: finish, retry and release as in PerfectSched, and automatic retries. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import { completeOccurrence, type EndedOccurrence } from "../../../src/schedule/state/complete-occurrence.ts";
import { type DueState, formatDue, type OpenOccurrence, parseDue } from "../../../src/schedule/state/due.ts";
import type { OccurrenceResult } from "../../../src/schedule/state/outcome.ts";

const plain: Definition = { cron: "* * * * *", timezone: "UTC" };
const NOW = 5_000_000;
const open: OpenOccurrence = { scheduled: 1_000, runAt: 1_000, attempt: 3, failures: 1, kind: "due" };
const other: OpenOccurrence = { ...open, scheduled: 2_000 };
const due: DueState = { next: 60_000, runAt: 60_000, open: [open, other] };
const ended = (result: OccurrenceResult, wait?: number): EndedOccurrence => ({
  outcome: {
    scheduled: 1_000,
    result: result as EndedOccurrence["outcome"]["result"],
    endedAt: NOW,
    startedAt: NOW - 9,
    late: 4,
    run: "r1",
  },
  wait,
});
const settled = (result: OccurrenceResult, definition: Partial<Definition> = {}, wait?: number) =>
  completeOccurrence({ ...plain, ...definition }, due, ended(result, wait), 0.5);

describe("where the occurrence goes", () => {
  test.each<
    [
      string,
      OccurrenceResult,
      Partial<Definition>,
      number | undefined,
      Partial<OpenOccurrence> | undefined,
      boolean,
    ]
  >([
    ["finished: it is gone", "ok", {}, undefined, undefined, false],
    ["replaced: it is gone", "replaced", {}, undefined, undefined, false],
    [
      "retry: after 300 s, and does not count",
      "retry",
      {},
      undefined,
      { runAt: NOW + 300_000, attempt: 3, failures: 1, deferred: 1, postponed: 1 },
      false,
    ],
    ["retry: after the wait it asks for", "retry", {}, 7_000, { runAt: NOW + 7_000 }, false],
    [
      "released: at once, before what was due later, and does not count",
      "released",
      {},
      undefined,
      { runAt: 1_000, attempt: 2 },
      false,
    ],
    ["released: after its wait", "released", {}, 7_000, { runAt: NOW + 7_000, attempt: 2 }, false],
    [
      "lost: at once, before what was due later; the start counts",
      "lost",
      {},
      undefined,
      { runAt: 1_000, attempt: 3 },
      false,
    ],
    ["failed: given up without retries", "failed", {}, undefined, undefined, true],
    ["failed: given up after the last retry", "failed", { retries: 1 }, undefined, undefined, true],
    [
      "failed: again, after twice the back-off",
      "failed",
      { retries: 2, backoff: 1_000 },
      undefined,
      { runAt: NOW + 2_000, failures: 2 },
      false,
    ],
    ["timeout: as failed", "timeout", { retries: 2, backoff: 1_000 }, undefined, { failures: 2 }, false],
    [
      "failed: the back-off has a bound",
      "failed",
      { retries: 2, backoff: 36_000_000 },
      undefined,
      { runAt: NOW + 3_600_000 },
      false,
    ],
  ])("%s", (_, result, definition, wait, expected, isDead) => {
    const { due: next, isDead: dead, again } = settled(result, definition, wait);
    expect(dead).toBe(isDead);
    expect(next.dead).toBe(isDead ? 1 : undefined);
    expect(next.open[0]).toBe(other);
    const [, left] = next.open;
    expect(again).toBe(left && Math.max(NOW, left.runAt));
    if (expected === undefined) expect(next.open).toEqual([other]);
    else expect(next.open[1]).toMatchObject({ scheduled: 1_000, ...expected });
  });

  test("postponements count until a failure", () => {
    const complete = (result: OccurrenceResult, postponed: number) => {
      const before = { ...due, open: [{ ...open, postponed }] };
      return completeOccurrence({ ...plain, retries: 9 }, before, ended(result), 0).due.open[0]?.postponed;
    };
    expect(complete("retry", 4)).toBe(5);
    expect(complete("released", 4)).toBe(4);
    expect(complete("failed", 4)).toBeUndefined();
  });

  test("the plan stays as it is, and the last result is kept", () => {
    const { due: next } = settled("ok");
    expect(next).toMatchObject({ next: 60_000, runAt: 60_000 });
    expect(next.last).toEqual({
      scheduled: 1_000,
      startedAt: NOW - 9,
      endedAt: NOW,
      late: 4,
      result: "ok",
      run: "r1",
    });
  });

  test("the time of the last success stays after failures", () => {
    const { due: good } = settled("ok");
    const failed = completeOccurrence(plain, { ...good, open: [open] }, ended("failed"), 0).due;
    expect([good.succeededAt, failed.succeededAt, failed.last?.result]).toEqual([NOW, NOW, "failed"]);
    expect(parseDue(formatDue(failed))).toMatchObject({ value: { succeededAt: NOW } });
    expect(settled("failed").due.succeededAt).toBeUndefined();
  });

  test("pauses between failures are spread by a quarter to both sides", () => {
    const pause = (unit: number) =>
      (completeOccurrence({ ...plain, retries: 9, backoff: 1_000 }, due, ended("failed"), unit).again ?? 0) -
      NOW;
    expect([pause(0), pause(0.999)].map(Math.round)).toEqual(
      [1_500, 2_499].map((ms) => expect.closeTo(ms, -1)),
    );
  });

  test("an occurrence that an operator has taken away changes nothing but the last result", () => {
    const bare = { ...due, open: [other] };
    expect(completeOccurrence(plain, bare, ended("failed"), 0)).toMatchObject({
      due: { open: [other] },
      isDead: false,
    });
  });
});

describe("with pauseAfterFailures", () => {
  const strict = { ...plain, pauseAfterFailures: 2 };
  const complete = (before: DueState, result: OccurrenceResult, definition: Definition = strict) =>
    completeOccurrence(definition, { ...before, open: [open] }, ended(result), 0).due;

  test("the last of the failures in a row pauses the schedule, in the state that completes it", () => {
    const first = complete(due, "failed");
    expect([first.failed, first.pause]).toEqual([1, undefined]);
    const second = complete(first, "timeout");
    expect(second.failed).toBe(2);
    expect(second.pause).toEqual({ by: "signalbox", at: NOW, why: "after 2 failures" });
    expect(parseDue(formatDue(second))).toMatchObject({ value: { failed: 2, pause: second.pause } });
    expect(complete(second, "failed").pause, "a later failure keeps it").toEqual(second.pause);
  });

  test.each(["retry", "released", "lost", "replaced"] as const)("%s does not count", (result) => {
    expect(complete({ ...due, failed: 1 }, result)).toMatchObject({ failed: 1 });
  });

  test("a failure that is retried does not count", () => {
    expect(complete(due, "failed", { ...strict, retries: 2 }).failed).toBeUndefined();
  });

  test("a success starts the count again, and ends no pause", () => {
    expect(complete({ ...due, failed: 1 }, "ok").failed).toBeUndefined();
    const paused = complete({ ...due, failed: 1 }, "failed");
    expect(complete(paused, "ok")).toMatchObject({ pause: paused.pause });
  });

  test("without it, nothing is counted", () => {
    expect(complete(due, "failed", plain).failed).toBeUndefined();
  });
});
