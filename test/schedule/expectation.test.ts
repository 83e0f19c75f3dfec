import { describe, expect, test } from "vitest";
import {
  findDeviation,
  findExpectationFault,
  formatExpectation,
  getExpectation,
  updateUsual,
} from "../../src/schedule/expectation.ts";
import type { DueState } from "../../src/schedule/state/due.ts";

describe("the text of an expectation", () => {
  test.each([
    ["5s..20m", { least: 5_000, most: 1_200_000 }, "5s to 20m"],
    ["5s..", { least: 5_000 }, "at least 5s"],
    ["..1h30m", { most: 5_400_000 }, "at most 1h30m"],
    ["0..20m", { least: 0, most: 1_200_000 }, "0s to 20m"],
    ["auto", {}, undefined],
  ])("%s", (text, bounds, told) => {
    expect(findExpectationFault(text)).toBeUndefined();
    expect(getExpectation({ expect: text }, undefined)).toEqual(bounds);
    expect(formatExpectation(bounds)).toBe(told);
  });

  test.each([
    ["20m", '"20m" does not say how long a run takes; write 5s..20m'],
    ["..", "write 5s..20m, 5s.. (at least), ..20m (at most), or auto"],
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

describe("auto", () => {
  const due: DueState = { runAt: 0, open: [] };
  const buildRuns = (...took: readonly number[]) =>
    took.map((ms) => ({ scheduled: 1, result: "ok" as const, startedAt: 1_000, endedAt: 1_000 + ms }));

  test("is twice the median of the last successes, once there are five", () => {
    const auto = { expect: "auto" };
    const runs = buildRuns(60_000, 61_000, 1, 900_000);
    expect(updateUsual(auto, due, runs)).toEqual(due);
    const failure = { scheduled: 1, result: "failed" as const, startedAt: 0, endedAt: 5 };
    const usual = updateUsual(auto, due, [failure, ...runs, ...buildRuns(59_000)]);
    expect(usual).toEqual({ ...due, usual: 60_000 });
    expect(getExpectation(auto, usual)).toEqual({ most: 120_000 });
    expect(getExpectation(auto, { usual: 3 }), "no less than 10 s").toEqual({ most: 10_000 });
    expect(updateUsual({}, usual, []), "it is not kept without auto").toEqual(due);
  });

  test("looks at the last twenty outcomes only", () => {
    const runs = [...buildRuns(...Array<number>(20).fill(1_000)), ...buildRuns(...Array(30).fill(9_000))];
    expect(updateUsual({ expect: "auto" }, due, runs).usual).toBe(1_000);
  });
});
