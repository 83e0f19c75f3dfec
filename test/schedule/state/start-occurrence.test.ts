/** The start of an occurrence: catch-up, deadlines, pauses, lost starts. Occurrences are every full minute here. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState, OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { MAX_COUNTED_OCCURRENCES, startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import type { Timing } from "../../../src/schedule/timing.ts";

const M = 60_000;
const everyMinute = (lag = 0, end = Number.POSITIVE_INFINITY): Timing => {
  const within = (at: number) => (at > end ? undefined : at);
  return {
    lag,
    findAfter: (at) => within((Math.floor(at / M) + 1) * M),
    findFrom: (at) => within(Math.ceil(at / M) * M),
    findUntil: (at) => Math.floor(Math.min(at, end) / M) * M,
    count: (after, until, most) => Math.min(most, Math.floor(until / M) - Math.floor(after / M)),
    isExcluded: () => false,
    findBlackout: () => undefined,
    findAllowed: (at) => at,
  };
};
const plain: Definition = { cron: "* * * * *", timezone: "UTC" };
const state = (next: number, change: Partial<DueState> = {}): DueState => ({
  next,
  runAt: next,
  open: [],
  ...change,
});
const takeNext = (definition: Partial<Definition>, due: DueState, now: number, timing = everyMinute()) =>
  startOccurrence({ ...plain, ...definition }, timing, due, { runAt: due.runAt }, now);

describe("on time", () => {
  test("the next counts from the scheduled time, not from now", () => {
    const { due, occurrence: taken, outcomes } = takeNext({}, state(10 * M), 10 * M + 45_000);
    expect(taken).toEqual({ scheduled: 10 * M, runAt: 10 * M, attempt: 1, failures: 0, kind: "due" });
    expect(due).toEqual({ next: 11 * M, runAt: 11 * M, open: [taken] });
    expect(outcomes).toEqual([]);
  });

  test("with a lag, the next gets it too", () => {
    const { due } = takeNext(
      {},
      state(10 * M, { runAt: 10 * M + 30_000 }),
      10 * M + 30_000,
      everyMinute(30_000),
    );
    expect(due).toMatchObject({ next: 11 * M, runAt: 11 * M + 30_000 });
  });

  test("`at` counts for the first only, and may lie before its time", () => {
    const { due, occurrence: taken } = takeNext({}, state(10 * M, { runAt: 3 * M }), 3 * M);
    expect(taken).toMatchObject({ scheduled: 10 * M, runAt: 3 * M });
    expect(due).toMatchObject({ next: 11 * M, runAt: 11 * M });
  });
});

describe("after an outage of ten minutes", () => {
  const now = 20 * M + 5_000;
  test.each<[string, Partial<Definition>, number | undefined, number | undefined, number | undefined]>([
    // catch-up, taken, next, skipped
    ["all: one by one", { catchup: "all" }, 10, 11, undefined],
    ["by default: the newest", {}, 20, 21, 10],
    ["latest: the newest", { catchup: "latest" }, 20, 21, 10],
    ["none: the newest, it is less than a minute late", { catchup: "none" }, 20, 21, 10],
    ["none: with its own deadline", { catchup: "none", deadline: 1_000 }, undefined, 21, 11],
    ["all: a deadline drops the oldest", { catchup: "all", deadline: 3 * M }, 18, 19, 8],
    ["latest: within the deadline", { catchup: "latest", deadline: M }, 20, 21, 10],
    ["latest: too late even so", { catchup: "latest", deadline: 1_000 }, undefined, 21, 11],
  ])("%s", (_, definition, taken, next, skipped) => {
    const result = takeNext(definition, state(10 * M), now);
    expect(result.occurrence?.scheduled).toBe(taken === undefined ? undefined : taken * M);
    expect(result.due.next).toBe(next === undefined ? undefined : next * M);
    expect(result.outcomes.map(({ count }) => count)).toEqual(skipped === undefined ? [] : [skipped]);
    expect(result.due.open).toEqual(result.occurrence === undefined ? [] : [result.occurrence]);
  });

  test("a year's outage is counted up to a bound", () => {
    const [skipped] = takeNext({ catchup: "latest" }, state(0), 365 * 1_440 * M).outcomes;
    expect(skipped?.count).toBe(MAX_COUNTED_OCCURRENCES);
  });

  test("the end came meanwhile: nothing is left", () => {
    const result = takeNext({ deadline: M }, state(10 * M), now, everyMinute(0, 15 * M));
    expect(result).toMatchObject({
      due: { open: [] },
      outcomes: [{ result: "skipped", count: 6, until: 15 * M }],
    });
    expect(result.due.next).toBeUndefined();
    expect(result.occurrence).toBeUndefined();
  });
});

describe("with conditions that do not hold", () => {
  const take = (definition: Partial<Definition>, now: number, due = state(10 * M)) =>
    startOccurrence(
      { ...plain, ...definition },
      everyMinute(),
      due,
      { runAt: due.runAt },
      now,
      "the load is high",
    );

  test("what is too late is skipped for this reason, and nothing starts", () => {
    expect(take({ catchup: "all", deadline: 90_000 }, 15 * M)).toEqual({
      due: {
        next: 14 * M,
        runAt: 14 * M,
        open: [],
        skipped: { since: 10 * M, count: 4, reason: "the load is high" },
      },
      outcomes: [
        {
          scheduled: 10 * M,
          result: "skipped",
          endedAt: 15 * M,
          count: 4,
          until: 13 * M,
          reason: "the load is high",
        },
      ],
    });
  });

  test("the time that `at` has given stays", () => {
    const due = state(10 * M, { runAt: 11 * M });
    expect(take({ catchup: "all", deadline: M }, 11 * M + 1, due)).toEqual({ due, outcomes: [] });
  });
});

describe("what was skipped since the last start", () => {
  const late = { deadline: 1_000 };
  const skip = (due: DueState, now: number) =>
    startOccurrence({ ...plain, ...late }, everyMinute(), due, { runAt: due.runAt }, now);

  test("is counted in the state, from when the first one was due", () => {
    const once = skip(state(10 * M), 10.5 * M);
    expect(once.due.skipped).toEqual({ since: 10 * M, count: 1 });
    const again = skip(once.due, 12.5 * M);
    expect(again.due).toMatchObject({ next: 13 * M, skipped: { since: 10 * M, count: 3 } });
  });

  test("is forgotten when something starts, also if that has skipped others", () => {
    const skipped = { since: M, count: 5 };
    expect(skip(state(10 * M, { skipped }), 12 * M)).toMatchObject({ occurrence: { scheduled: 12 * M } });
    expect(skip(state(10 * M, { skipped }), 12 * M).due.skipped).toBeUndefined();
    const trigger = { scheduled: 1, runAt: 1, attempt: 0, failures: 0, kind: "trigger" } as const;
    const due = state(10 * M, { skipped, open: [trigger] });
    const started = startOccurrence(plain, everyMinute(), due, { runAt: 1, open: trigger }, M);
    expect(started.due.skipped).toBeUndefined();
  });

  test("is nothing that a pause or a calendar has left out", () => {
    const pause = { by: "a@b", at: 9 * M, until: 12 * M };
    const paused = startOccurrence(
      { ...plain, pause },
      everyMinute(),
      state(10 * M),
      { runAt: 10 * M },
      12 * M - 1,
    );
    expect(paused.due.skipped).toBeUndefined();
    const over = startOccurrence(
      { ...plain, pause },
      everyMinute(),
      state(10 * M),
      { runAt: 10 * M },
      12 * M,
      "the load is high",
    );
    expect(over).toMatchObject({ due: { next: 12 * M }, outcomes: [{ result: "skipped", count: 2 }] });
    expect(over.due.skipped).toBeUndefined();
  });
});

describe("after a pause that has ended by itself", () => {
  const pause = { by: "a@b", at: 12 * M, until: 18 * M };
  test("what it stopped is not made up for", () => {
    const { occurrence: taken, due, outcomes } = takeNext({ pause }, state(13 * M), 18 * M + 1);
    expect(taken?.scheduled).toBe(18 * M);
    expect(due.next).toBe(19 * M);
    expect(outcomes).toMatchObject([{ result: "skipped", count: 5, until: 17 * M }]);
  });
  test("what was due before it is", () => {
    expect(takeNext({ pause, catchup: "all" }, state(11 * M), 18 * M + 1).occurrence?.scheduled).toBe(11 * M);
  });
});

describe("again", () => {
  const open: OpenOccurrence = { scheduled: 10 * M, runAt: 10 * M, attempt: 1, failures: 0, kind: "due" };
  const again = (one: OpenOccurrence) =>
    startOccurrence(
      plain,
      everyMinute(),
      state(11 * M, { open: [one] }),
      { runAt: one.runAt, open: one },
      12 * M,
    );

  test("what kills its workers is given up after ten of them", () => {
    const { occurrence: taken, dead, due } = again({ ...open, attempt: 10 });
    expect(taken).toBeUndefined();
    expect(dead).toMatchObject({
      scheduled: 10 * M,
      result: "lost",
      reason: expect.stringContaining("10 times"),
    });
    expect(due.open).toEqual([]);
  });

  test("starts that failed do not count as lost", () => {
    expect(again({ ...open, attempt: 12, failures: 5 }).occurrence?.attempt).toBe(13);
    expect(again({ ...open, attempt: 12, failures: 1, deferred: 8 }).occurrence?.attempt).toBe(13);
  });

  test("with replace, the next one drops what waits to be tried again, and says so", () => {
    const due = state(11 * M, { open: [open, { ...open, scheduled: 5, kind: "trigger" }] });
    const { due: after, outcomes } = takeNext({ overlap: "replace" }, due, 11 * M);
    expect(after.open.map(({ scheduled }) => scheduled)).toEqual([5, 11 * M]);
    expect(outcomes).toMatchObject([{ scheduled: 10 * M, result: "replaced" }]);
  });
});

describe("a run after other schedules, on a day that calendars exclude", () => {
  const run: OpenOccurrence = { scheduled: 5 * M, runAt: 6 * M, attempt: 0, failures: 0, kind: "after" };
  const excluded = (moved: number | undefined): Timing => ({
    ...everyMinute(7),
    isExcluded: (at) => at === 5 * M,
    findAllowed: (at) => (at === 5 * M ? moved : at),
  });
  const start = (open: OpenOccurrence, timing: Timing) =>
    startOccurrence(plain, timing, { runAt: 0, open: [open] }, { runAt: open.runAt, open }, 6 * M);

  test("is skipped, with the reason", () => {
    const { due, occurrence, outcomes } = start(run, excluded(undefined));
    expect([due.open, occurrence]).toEqual([[], undefined]);
    expect(outcomes).toEqual([
      {
        scheduled: 5 * M,
        result: "skipped",
        endedAt: 6 * M,
        count: 1,
        until: 5 * M,
        reason: "its calendars exclude the day",
      },
    ]);
  });

  test("moves to the next allowed day, and is skipped where that is past", () => {
    const moved = start(run, excluded(9 * M));
    expect(moved).toMatchObject({ outcomes: [], due: { open: [{ scheduled: 9 * M, runAt: 9 * M + 7 }] } });
    expect(moved.occurrence).toBeUndefined();
    expect(start(run, excluded(3 * M)).outcomes).toMatchObject([{ result: "skipped" }]);
  });

  test.each<[string, Partial<OpenOccurrence>]>([
    ["a retry", { attempt: 1, failures: 1 }],
    ["what was triggered", { kind: "trigger" }],
    ["what is made up for", { kind: "backfill" }],
  ])("%s starts there", (_, change) => {
    const open = { ...run, ...change };
    expect(start(open, excluded(undefined)).occurrence).toMatchObject({ attempt: open.attempt + 1 });
  });
});
