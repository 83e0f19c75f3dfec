import { describe, expect, test } from "vitest";
import {
  ConfigError,
  CronError,
  explainCronText,
  lintCronText,
  listCronTimes,
  UsageError,
} from "../../src/library/index.ts";

const from = "2026-03-28T00:00Z";

describe("listCronTimes", () => {
  test("lists times after an instant, in a time zone", () => {
    expect(listCronTimes("0 7 * * mon-fri", { timezone: "Europe/Berlin", from, count: 2 })).toEqual([
      {
        time: new Date("2026-03-30T05:00Z"),
        local: "2026-03-30 07:00 CEST (+02:00)",
        mark: undefined,
        note: undefined,
      },
      expect.objectContaining({ time: new Date("2026-03-31T05:00Z") }),
    ]);
  });

  test("marks a time that the clocks skip", () => {
    const [first, second] = listCronTimes("30 2 * * *", { timezone: "Europe/Berlin", from, count: 2 });
    expect(first?.mark).toBeUndefined();
    expect(second).toMatchObject({ mark: "gap", note: expect.stringContaining("02:30") });
  });

  test("begins now, with one time, and lists fewer if there are no more", () => {
    const [next] = listCronTimes("* * * * *");
    expect(next?.time.getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(listCronTimes("@at 2026-04-01T00:00Z", { from, count: 5 })).toHaveLength(1);
    expect(listCronTimes("@manual", { from, count: 5 })).toEqual([]);
  });

  test.each([
    ["a wrong text", () => listCronTimes("61 * * * *"), CronError, "minute"],
    ["an unknown zone", () => listCronTimes("@daily", { timezone: "Mars" }), UsageError, "Mars"],
    ["no times", () => listCronTimes("@daily", { count: 0 }), ConfigError, "count: 0 is less than 1"],
    ["too many times", () => listCronTimes("@daily", { count: 1e5 }), ConfigError, "100000 is more than"],
    ["a part of a time", () => listCronTimes("@daily", { count: 1.5 }), ConfigError, "1.5 is not a whole"],
    ["an option", () => listCronTimes("@daily", { zone: "UTC" } as object), ConfigError, '"zone"'],
  ])("refuses %s", (_, call, kind, message) => {
    expect(call).toThrow(kind);
    expect(call).toThrow(message);
  });
});

test("explainCronText explains expressions and other plans", () => {
  expect(explainCronText("30 2 * * 1-5")).toBe("at 02:30, Monday to Friday");
  expect(explainCronText("@manual")).toBe("never by itself");
  expect(() => explainCronText("@rebot")).toThrow(CronError);
});

test("lintCronText finds mistakes, and tells errors as findings", () => {
  expect(lintCronText("0 7 * * *", { from })).toEqual([]);
  expect(lintCronText("30 2 * * *", { timezone: "Europe/Berlin", from })).toContainEqual(
    expect.objectContaining({ about: "clock change", level: "hint" }),
  );
  expect(lintCronText("61 * * * *")).toMatchObject([{ level: "error", about: "minute" }]);
});
