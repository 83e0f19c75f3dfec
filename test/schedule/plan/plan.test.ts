import { describe, expect, test } from "vitest";
import {
  createPlanTimes,
  explainPlan,
  formatOncePlan,
  listPlannedOccurrences,
  parsePlan,
} from "../../../src/schedule/plan.ts";

const AT = Date.parse("2026-12-24T17:00:00Z");

describe("a plan that is due once", () => {
  test.each([
    "@at 2026-12-24T17:00Z",
    "@at 2026-12-24 18:00+01:00",
    "  @AT 2026-12-24T17:00:00.000z ",
    formatOncePlan(AT),
  ])("%s", (text) => {
    expect(parsePlan(text)).toMatchObject({ kind: "once", at: AT });
  });

  test.each(["@at", "@at soon", "@at 2026-12-24T17:00", "@at 2026-02-30T17:00Z", "@at 1969-12-31T23:00Z"])(
    "refuses %s",
    (text) => {
      expect(() => parsePlan(text)).toThrow(/is not an instant: write a date, a time and an offset/);
    },
  );

  test("has one occurrence", () => {
    const times = createPlanTimes(parsePlan(formatOncePlan(AT)), "UTC");
    const found = [AT - 1, AT, AT + 1].map((instant) => [
      times.findAfter(instant),
      times.findFrom(instant),
      times.findUntil(instant),
    ]);
    expect(found).toEqual([
      [AT, AT, undefined],
      [undefined, AT, AT],
      [undefined, undefined, AT],
    ]);
    const counts = [times.count(AT - 1, AT, 9), times.count(AT, AT + 9, 9), times.count(AT - 9, AT - 1, 9)];
    expect(counts).toEqual([1, 0, 0]);
  });

  test("is explained in its zone", () => {
    const plan = parsePlan(formatOncePlan(AT));
    expect(explainPlan(plan)).toBe("once, at 2026-12-24T17:00:00.000Z");
    const [first, ...more] = listPlannedOccurrences(plan, "Europe/Berlin", 0, 3);
    expect(first?.local).toBe("2026-12-24 18:00 CET (+01:00)");
    expect(more).toEqual([]);
    expect(listPlannedOccurrences(plan, "UTC", AT, 3)).toEqual([]);
  });
});

describe("a plan that is never due by itself", () => {
  const plan = parsePlan(" @Manual");

  test("has no occurrence", () => {
    const times = createPlanTimes(plan, "UTC");
    expect([times.findAfter(0), times.findFrom(0), times.findUntil(AT), times.count(0, AT, 9)]).toEqual([
      undefined,
      undefined,
      undefined,
      0,
    ]);
    expect(listPlannedOccurrences(plan, "UTC", 0, 3)).toEqual([]);
    expect(explainPlan(plan)).toBe("never by itself");
  });
});

test("every other plan is a cron expression", () => {
  const plan = parsePlan("30  2 * * *");
  expect([plan.kind, plan.text, explainPlan(plan)]).toEqual(["cron", "30 2 * * *", "at 02:30, every day"]);
  expect(() => parsePlan("@manually")).toThrow(/is not a macro/);
});
