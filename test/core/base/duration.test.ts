import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/core/base/clock.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("parseDuration", () => {
  test.each([
    ["30s", 30 * SECOND],
    ["5m", 5 * MINUTE],
    ["1h30m", HOUR + 30 * MINUTE],
    ["250ms", 250],
    ["2d", 2 * DAY],
    ["1m500ms", MINUTE + 500],
    ["1d2h3m4s5ms", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5],
    ["90m", 90 * MINUTE],
    ["0.5s", 500],
    ["1.5m", 90 * SECOND],
    ["1h0.25s", HOUR + 250],
    ["1.001s", 1_001],
    ["0.7ms", 1],
    ["0.0s", 0],
    ["0", 0],
    ["0s", 0],
    ["3650d", 3650 * DAY],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toEqual({ value: ms });
  });

  test.each([
    "",
    " ",
    "s",
    "5",
    "1.h",
    ".5s",
    "1.5",
    "1,5s",
    "1.5.5s",
    "0.0001s",
    "-5s",
    "+5s",
    "5 s",
    "5S",
    "30m1h",
    "5s5s",
    "1e3s",
    "5sec",
    "0x10s",
    "٣s",
    "5s\n",
  ])("refuses %j", (text) => {
    expect(parseDuration(text)).toHaveProperty("fault");
  });

  test("names the remedy for a number without unit", () => {
    expect(parseDuration("30")).toEqual({ fault: '"30" has no unit; write 30s, 30m, 30h or 30d' });
    expect(parseDuration("0.5")).toEqual({ fault: '"0.5" has no unit; write 0.5s, 0.5m, 0.5h or 0.5d' });
  });

  test("quotes what it got and shows an example", () => {
    expect(parseDuration("soon")).toEqual({
      fault: '"soon" is not a duration; write it as 30s, 0.5s, 5m, 1h30m or 2d',
    });
  });

  test("refuses what no timer could keep, and 10 kB of digits", () => {
    expect(parseDuration("3651d")).toEqual({ fault: '"3651d" is longer than ten years' });
    expect(parseDuration("9".repeat(10_000))).toHaveProperty("fault");
    expect(parseDuration(`${"9".repeat(10_000)}s`)).toHaveProperty("fault");
  });

  test("any text gives a whole number of ms or a fault, and never throws", () => {
    const pieces = fc.array(fc.constantFrom("1", "0", "59", "d", "h", "m", "s", "ms", " ", "-", "."), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          pieces.map((all) => all.join("")),
        ),
        (text) => {
          const parsed = parseDuration(text);
          if ("value" in parsed) expect(Number.isSafeInteger(parsed.value) && parsed.value >= 0).toBe(true);
          else expect(parsed.fault.length).toBeLessThan(200);
        },
      ),
    );
  });
});

describe("formatDuration", () => {
  test.each([
    [0, "0s"],
    [999, "999ms"],
    [90 * MINUTE, "1h30m"],
    [DAY, "1d"],
    [-5 * SECOND, "-5s"],
    [1_500.4, "1s500ms"],
    [0.2, "0s"],
    [Number.POSITIVE_INFINITY, "forever"],
  ])("%d ms is %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("what it writes is read back as the same time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3650 * DAY }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ value: ms });
      }),
    );
  });
});
