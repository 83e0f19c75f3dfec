import { describe, expect, test } from "vitest";
import type { Calendars } from "../../../src/schedule/calendar/calendar.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState } from "../../../src/schedule/state/due.ts";
import { computeFirstDue, computeRecalculatedDue } from "../../../src/schedule/state/due-transitions.ts";
import { startOccurrence } from "../../../src/schedule/state/start-occurrence.ts";
import { createTiming } from "../../../src/schedule/timing.ts";

const at = (date: string) => Date.parse(`${date}T03:00Z`);
const planned = (next: string, runAt = next): DueState => ({ next: at(next), runAt: at(runAt), open: [] });
const calendarOf = (...days: string[]): Calendars => new Map([["off", { value: { days } }]]);
const daily: Definition = { cron: "0 3 * * *", timezone: "UTC", except: ["off"] };
const EVE = Date.parse("2026-12-24T12:00Z");
const empty = calendarOf();

describe("a change of a calendar", () => {
  test.each<[string, Partial<Definition>, string[], string[], string]>([
    ["excludes the next day", {}, [], ["12-25"], "2026-12-26"],
    ["excludes it, and it moves", { cron: "0 3 25 * *", ifExcluded: "next" }, [], ["12-25"], "2026-12-26"],
    ["allows an earlier day", {}, ["12-25", "12-26"], ["12-26"], "2026-12-25"],
    ["is about other days", {}, ["12-25"], ["12-25", "12-31"], "2026-12-26"],
    ["brings an ended schedule back", { cron: "0 3 25 12 *" }, ["12-25"], [], "2026-12-25"],
  ])("%s", (_, change, before, after, next) => {
    const definition = { ...daily, ...change };
    const swap = { before: calendarOf(...before), after: calendarOf(...after) };
    const due = computeFirstDue("job", definition, EVE, {}, swap.before);
    expect(computeRecalculatedDue("job", definition, due, EVE, swap)).toMatchObject({
      next: at(next),
      runAt: at(next),
    });
  });

  test("lets a schedule end that is never due then", () => {
    const due = computeFirstDue("job", daily, EVE, {}, empty);
    const swap = { before: empty, after: calendarOf(..."sun mon tue wed thu fri sat".split(" ")) };
    expect(computeRecalculatedDue("job", daily, due, EVE, swap)).toEqual({ runAt: 0, open: [] });
  });

  test("keeps an occurrence that is already due", () => {
    const due = planned("2026-12-24");
    const swap = { before: empty, after: calendarOf("12-24") };
    expect(computeRecalculatedDue("job", daily, due, EVE, swap)).toBe(due);
  });

  test("keeps the time of an occurrence that waits for its delay", () => {
    const definition = { ...daily, delay: 86_400_000 };
    const due = planned("2026-12-24", "2026-12-25");
    const swap = { before: empty, after: calendarOf("12-31") };
    expect(computeRecalculatedDue("job", definition, due, EVE, swap)).toBe(due);
  });

  test("keeps the start of a new schedule, unless its day is excluded", () => {
    const due = computeFirstDue("job", daily, EVE, { start: at("2027-02-01") }, empty);
    expect(
      computeRecalculatedDue("job", daily, due, EVE, { before: empty, after: calendarOf("12-25") }),
    ).toBe(due);
    const swap = { before: empty, after: calendarOf("02-01") };
    expect(computeRecalculatedDue("job", daily, due, EVE, swap)).toMatchObject({ next: at("2027-02-02") });
  });

  test("moves the start of a new schedule back when its day is allowed again", () => {
    const yearly = { ...daily, cron: "0 3 25 12 *", ifExcluded: "next" as const };
    const off = calendarOf("12-25");
    const due = computeFirstDue("job", yearly, EVE, { start: at("2027-01-15") }, off);
    expect(due.next).toBe(at("2027-12-26"));
    const swap = { before: off, after: empty };
    expect(computeRecalculatedDue("job", yearly, due, EVE, swap)).toMatchObject({ next: at("2027-12-25") });
  });

  test("does not move the start of a new schedule to an earlier year", () => {
    const yearly = { ...daily, cron: "0 3 25 12 *", ifExcluded: "next" as const };
    const swap = { before: calendarOf("12-25"), after: calendarOf("12-25", "12-26") };
    const due = computeFirstDue("job", yearly, EVE, { start: at("2027-01-15") }, swap.before);
    expect(computeRecalculatedDue("job", yearly, due, EVE, swap)).toMatchObject({ next: at("2027-12-27") });
  });

  test("keeps a time that an import has set, unless its day is excluded", () => {
    const due: DueState = { next: at("2026-12-25") + 1, runAt: at("2026-12-25") + 1, open: [] };
    const swap = { before: empty, after: calendarOf("12-31") };
    expect(computeRecalculatedDue("job", daily, due, EVE, swap)).toBe(due);
    const excluded = { before: empty, after: calendarOf("12-25") };
    expect(computeRecalculatedDue("job", daily, due, EVE, excluded)).toMatchObject({
      next: at("2026-12-26"),
    });
  });

  test("of one that could not be read counts from now", () => {
    const due: DueState = { runAt: 0, open: [] };
    const swap = { before: new Map(), after: calendarOf("12-25") };
    expect(computeRecalculatedDue("job", daily, due, EVE, swap)).toMatchObject({ next: at("2026-12-26") });
  });
});

describe("an occurrence that was computed before its day was excluded", () => {
  const due = planned("2026-12-25");
  const start = (change: Partial<Definition>) => {
    const definition = { ...daily, ...change };
    const timing = createTiming("job", definition, calendarOf("12-25"));
    return startOccurrence(definition, timing, due, { runAt: due.runAt }, at("2026-12-25"));
  };

  test.each([
    [{}, "2026-12-26"],
    [{ cron: "0 3 25 * *" }, "2027-01-25"],
    [{ cron: "0 3 25 * *", ifExcluded: "next" as const }, "2026-12-26"],
    [{ cron: "0 3 25 * *", ifExcluded: "previous" as const }, "2027-01-25"],
  ])("does not start: %j", (change, next) => {
    expect(start(change)).toEqual({ due: planned(next), outcomes: [] });
  });
});
