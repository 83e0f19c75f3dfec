import { describe, expect, test } from "vitest";
import { anchorInterval } from "../../../src/schedule/interval.ts";
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
      expect(() => parsePlan(text)).toThrow("is not an instant: write a date, a time and an offset");
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

describe("a plan of several cron texts", () => {
  const texts = ["0 9 * * 1-5", "30 2,9 * * *", "0 9 1 * *"];
  const zone = "Europe/Berlin";
  const plan = parsePlan(texts);
  const times = createPlanTimes(plan, zone);
  const lists = texts.map((text) => createPlanTimes(parsePlan(text), zone));
  const from = Date.parse("2026-03-20T00:00:00Z");
  const until = Date.parse("2026-11-05T00:00:00Z");

  /** Lists the times of each text by itself. */
  const listUnion = () => {
    const found = lists.flatMap(({ findAfter }) => {
      const list: number[] = [];
      for (let at = findAfter(from); at !== undefined && at <= until; at = findAfter(at)) list.push(at);
      return list;
    });
    return [...new Set(found)].sort((a, b) => a - b);
  };

  test("is due at the times of each, at equal instants once, also when the clocks change", () => {
    const union = listUnion();
    const found: number[] = [];
    for (let at = times.findAfter(from); at !== undefined && at <= until; at = times.findAfter(at))
      found.push(at);
    expect(found).toEqual(union);
    expect(times.count(from, until, 9_999)).toBe(union.length);
    expect(times.count(from, until, 7)).toBe(7);
    for (const [n, at] of union.entries()) {
      expect(times.findFrom(at)).toBe(at);
      expect(times.findUntil(at)).toBe(at);
      if (n > 0) expect(times.findUntil(at - 1)).toBe(union[n - 1]);
    }
    expect(listPlannedOccurrences(plan, zone, from, 50).map(({ at }) => at)).toEqual(union.slice(0, 50));
  });

  test("is explained text by text", () => {
    expect(explainPlan(parsePlan(["0 9 * * 1-5", "0 12 * * 6"]))).toBe(
      "at 09:00, Monday to Friday; and at 12:00, Saturday",
    );
  });

  test("keeps one text as a text", () => {
    expect(parsePlan(["0 9 * * *", "0 9 * * *"]).text).toBe("0 9 * * *");
    expect(plan.text).toEqual(texts);
  });

  test.each([
    [["0 9 * * *", "@manual"], '"@manual" must stand alone'],
    [["@at 2026-12-24T17:00Z", "0 9 * * *"], "must stand alone"],
    [["0 9 * * *", "0 25 * * *"], "25"],
    [[], "cron"],
    [Array.from({ length: 21 }, (_, n) => `${n} 9 * * *`), "at most 20 cron texts; got 21"],
  ])("refuses %j", (given, why) => {
    expect(() => parsePlan(given)).toThrow(why);
  });
});

describe("an interval", () => {
  const FROM = Date.parse("2026-03-28T22:10:00Z");
  const MINUTE = 60_000;
  const plan = parsePlan("@every 90m from 2026-03-28T22:10Z");
  const times = createPlanTimes(plan, "Europe/Berlin");

  test("has a fixed rate from its first instant, independent of changes of the clock", () => {
    const found = [times.findFrom(0)];
    while (found.length < 5) found.push(times.findAfter(found.at(-1) ?? 0));
    expect(found).toEqual([0, 1, 2, 3, 4].map((n) => FROM + n * 90 * MINUTE));
    expect([times.findUntil(FROM - 1), times.findUntil(FROM), times.findUntil(FROM + 91 * MINUTE)]).toEqual([
      undefined,
      FROM,
      FROM + 90 * MINUTE,
    ]);
    expect(times.findFrom(FROM + 1)).toBe(FROM + 90 * MINUTE);
    expect(times.count(FROM, FROM + 900 * MINUTE, 99)).toBe(10);
    expect(times.count(FROM, FROM + 900 * MINUTE, 3)).toBe(3);
    expect(listPlannedOccurrences(plan, "Europe/Berlin", FROM, 2).map(({ local }) => local)).toEqual([
      "2026-03-29 00:40 CET (+01:00)",
      "2026-03-29 03:10 CEST (+02:00)",
    ]);
  });

  test("without an instant counts from the epoch, so that its text always means the same", () => {
    expect(createPlanTimes(parsePlan("@every 1h"), "UTC").findFrom(FROM)).toBe(FROM + 50 * MINUTE);
    expect(explainPlan(plan)).toBe("every 1h30m, counted from 2026-03-28T22:10:00.000Z");
  });

  test("gets an instant once", () => {
    const text = anchorInterval(" @every 90m ", FROM);
    expect(text).toBe("@every 90m from 2026-03-28T22:10:00.000Z");
    expect([anchorInterval(text, 0), anchorInterval("@daily", 0)]).toEqual([text, "@daily"]);
  });

  test.each([
    "@every",
    "@every 90",
    "@every 500ms",
    "@every 1h from soon",
    "@every 1h from 2026-02-30T00:00Z",
    "@every 99999d",
  ])("refuses %s", (text) => {
    expect(() => parsePlan(text)).toThrow("is not an interval: write a duration of at least 1s");
  });
});
