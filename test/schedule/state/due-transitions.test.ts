/** The state of a schedule after actions of operators: add and modify as in PerfectSched, pause, resume and trigger. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState } from "../../../src/schedule/state/due.ts";
import {
  addTriggeredRun,
  computeFirstDue,
  computeModifiedDue,
  computeResumedDue,
  MAX_OPEN_OCCURRENCES,
} from "../../../src/schedule/state/due-transitions.ts";
import { startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import { createTiming } from "../../../src/schedule/timing.ts";

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`);
const planned = (next: string, runAt = next): DueState => ({ next: at(next), runAt: at(runAt), open: [] });
const hourly: Definition = { cron: "0 * * * *", timezone: "UTC" };
const open = (scheduled: number, runAt = scheduled) =>
  ({ scheduled, runAt, attempt: 1, failures: 0, kind: "due" }) as const;

describe("adding", () => {
  const tomorrow = Date.parse("2026-03-03T04:00:00Z");
  test.each<[string, Partial<Definition>, Parameters<typeof computeFirstDue>[3], DueState]>([
    ["the first match from now on", {}, {}, planned("11:00:00")],
    ["a match at the very start counts", {}, { start: at("11:00:00") }, planned("11:00:00")],
    ["start lies in the past", {}, { start: at("07:30:00") }, planned("08:00:00")],
    ["delay moves the run, not its nominal time", { delay: 90_000 }, {}, planned("11:00:00", "11:01:30")],
    [
      "at is when the first may run, whatever the delay",
      { delay: 90_000 },
      { at: at("12:34:56") },
      planned("11:00:00", "12:34:56"),
    ],
    ["at may lie before its nominal time", {}, { at: at("09:00:00") }, planned("11:00:00", "09:00:00")],
    [
      "a zone",
      { cron: "30 9 * * *", timezone: "Asia/Kolkata" },
      {},
      { next: tomorrow, runAt: tomorrow, open: [] },
    ],
    ["ended before it began", { end: at("10:59:00") }, {}, { runAt: 0, open: [] }],
  ])("%s", (_, change, first, expected) => {
    expect(computeFirstDue("job", { ...hourly, ...change }, at("10:15:00"), first)).toEqual(expected);
  });

  test("jitter is part of the delay, the same each time, another for another schedule", () => {
    const spread = { ...hourly, jitter: 600_000 };
    const runs = ["a", "b", "c", "a"].map(
      (id) => computeFirstDue(id, spread, at("10:15:00")).runAt - at("11:00:00"),
    );
    expect(runs[3]).toBe(runs[0]);
    expect(new Set(runs).size).toBe(3);
    for (const run of runs) expect(run).toBeGreaterThanOrEqual(0);
    for (const run of runs) expect(run).toBeLessThan(600_000);
  });
});

describe("modifying", () => {
  const waiting = planned("11:00:00");
  test.each<[string, DueState, Partial<Definition>, Partial<DueState>]>([
    ["another cron text counts from now", waiting, { cron: "30 * * * *" }, planned("10:30:00")],
    ["another zone counts from now", waiting, { timezone: "Asia/Kolkata" }, planned("10:30:00")],
    ["another delay moves the run only", waiting, { delay: 60_000 }, planned("11:00:00", "11:01:00")],
    ["anything else moves nothing", waiting, { data: { a: 1 }, retries: 3 }, waiting],
    ["an end before the next one", waiting, { end: at("10:59:00") }, { runAt: 0 }],
    ["what is due already is kept", planned("10:00:00"), { cron: "30 * * * *" }, { next: at("10:00:00") }],
    [
      "what is open is kept",
      { ...waiting, open: [open(at("10:00:00"))] },
      { cron: "30 * * * *" },
      { open: [open(at("10:00:00"))], next: at("10:30:00") },
    ],
  ])("%s", (_, due, change, expected) => {
    expect(computeModifiedDue("job", hourly, { ...hourly, ...change }, due, at("10:15:00"))).toMatchObject(
      expected,
    );
  });

  test("a schedule that had ended goes on when its end is taken away", () => {
    const over = computeFirstDue("job", { ...hourly, end: at("10:00:00") }, at("10:15:00"));
    expect(
      computeModifiedDue("job", { ...hourly, end: at("10:00:00") }, hourly, over, at("10:15:00")),
    ).toEqual(waiting);
  });
});

describe("resuming", () => {
  test("what a pause has stopped is not made up for", () => {
    const due = planned("08:00:00");
    expect(computeResumedDue("job", hourly, due, at("10:15:00"))).toMatchObject(planned("11:00:00"));
  });

  test("what is due once runs after the pause, whether an operator or its time ends it", () => {
    const once = { ...hourly, cron: "@at 2026-03-02T08:00:00Z" };
    const due = planned("08:00:00");
    expect(computeResumedDue("job", once, due, at("10:15:00"))).toBe(due);
    const paused = { ...once, pause: { by: "ann", at: at("07:00:00"), until: at("10:00:00") } };
    const started = startOccurrence(
      paused,
      createTiming("job", paused),
      due,
      { runAt: due.runAt },
      at("10:15:00"),
    );
    expect([started.occurrence?.scheduled, started.outcomes]).toEqual([at("08:00:00"), []]);
  });

  test("what lies ahead stays", () => {
    const due = planned("11:00:00");
    expect(computeResumedDue("job", hourly, due, at("10:15:00"))).toBe(due);
  });

  test("a pause that the schedule has set itself ends, and its failures are forgotten", () => {
    const pause = { by: "signalbox", at: at("09:00:00"), why: "after 3 failures" };
    const due: DueState = { next: at("11:00:00"), runAt: at("11:00:00"), open: [], failed: 3, pause };
    expect(computeResumedDue("job", hourly, due, at("10:15:00"))).toEqual(planned("11:00:00"));
  });

  test("what a delay still holds back is not lost", () => {
    const late = { ...hourly, delay: 1_800_000 };
    const due = planned("08:00:00", "08:30:00");
    expect(computeResumedDue("job", late, due, at("10:15:00"))).toMatchObject(
      planned("10:00:00", "10:30:00"),
    );
  });
});

describe("triggering", () => {
  const due = planned("11:00:00");
  const now = at("10:15:00");

  test("a run beside the plan, which stays", () => {
    const expected = { scheduled: now, runAt: now, attempt: 0, failures: 0, kind: "trigger" };
    expect(addTriggeredRun(due, now)).toEqual({ ...due, open: [expected] });
  });

  test("two in one instant are told apart", () => {
    const once = addTriggeredRun(due, now) as DueState;
    expect(addTriggeredRun(once, now)?.open.map(({ scheduled }) => scheduled - now)).toEqual([0, 1]);
  });

  test("a dead letter gets its own time, and only once", () => {
    const dead = at("08:00:00");
    const once = addTriggeredRun(due, now, { scheduled: dead }) as DueState;
    expect(once.open[0]).toMatchObject({ scheduled: dead, runAt: now });
    expect(addTriggeredRun(once, now, { scheduled: dead })).toBeUndefined();
    expect(addTriggeredRun(due, now, { scheduled: at("11:00:00") })).toBeUndefined();
  });

  test("not without end", () => {
    const full = { ...due, open: Array.from({ length: MAX_OPEN_OCCURRENCES }, (_, n) => open(n)) };
    expect(addTriggeredRun(full, now)).toBeUndefined();
  });
});
