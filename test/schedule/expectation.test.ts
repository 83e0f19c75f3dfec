import { describe, expect, test } from "vitest";
import { formatExpectation } from "../../src/cli/views/schedules.ts";
import { findDeviation, findExpectationFault, getExpectation } from "../../src/schedule/expectation.ts";

describe("the text of an expectation", () => {
  test.each([
    ["5s..20m", { least: 5_000, most: 1_200_000 }, "5s to 20m"],
    ["5s..", { least: 5_000 }, "at least 5s"],
    ["..1h30m", { most: 5_400_000 }, "at most 1h30m"],
    ["0..20m", { least: 0, most: 1_200_000 }, "0s to 20m"],
  ])("%s", (text, bounds, told) => {
    expect(findExpectationFault(text)).toBeUndefined();
    expect(getExpectation({ expect: text })).toEqual(bounds);
    expect(formatExpectation(bounds)).toBe(told);
  });

  test.each([
    ["20m", '"20m" does not say how long a run takes; write 5s..20m'],
    ["..", "write 5s..20m, 5s.. (at least), or ..20m (at most)"],
    ["", "does not say"],
    ["5..20m", '"5" has no unit; write 5s'],
    ["5s..x", '"x" is not a duration'],
    ["20m..5s", '"20m..5s" must begin with the shorter duration'],
    ["5s..5s", "must begin with the shorter"],
    ["5s..20m..1h", "not a duration"],
  ])("%j is refused", (text, fault) => {
    expect(findExpectationFault(text)).toMatch(fault);
  });
});

test("a run is judged by its duration, and only a success is too short", () => {
  const bounds = { least: 5_000, most: 20_000 };
  expect(findDeviation(bounds, "ok", 4_999)).toBe("too-short");
  expect(findDeviation(bounds, "failed", 10)).toBeUndefined();
  expect([5_000, 20_000].map((took) => findDeviation(bounds, "ok", took))).toEqual([undefined, undefined]);
  for (const result of ["ok", "timeout", "lost"] as const)
    expect(findDeviation(bounds, result, 20_001)).toBe("overrun");
});
