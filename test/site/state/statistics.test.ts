/** Statistics of histories. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEndedRun } from "../../../fixtures/state/sample-snapshots.ts";
import {
  computeLockStatistics,
  computePercentile,
  computeTypicalHeld,
} from "../../../src/site/state/statistics.ts";

describe("a percentile", () => {
  it.each([
    [[], 0.5, undefined],
    [[1, 2], 0.5, 1],
    [Array.from({ length: 20 }, (_, i) => i + 1), 0.95, 19],
  ])("of $0 at $1 is $2", (sorted, share, is) => {
    expect(computePercentile(sorted, share)).toBe(is);
  });

  it("is the smallest value that so many do not exceed", () => {
    const values = fc.array(fc.nat(), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (all, share) => {
        const sorted = [...all].sort((a, b) => a - b);
        const value = computePercentile(sorted, share) ?? Number.NaN;
        const upTo = (limit: number) => sorted.filter((one) => one <= limit).length;
        const below = sorted.filter((one) => one < value).at(-1);
        expect(upTo(value)).toBeGreaterThanOrEqual(sorted.length * share);
        if (below !== undefined) expect(upTo(below)).toBeLessThan(sorted.length * share);
      }),
    );
  });
});

describe("a lock's statistics", () => {
  it("of nothing say nothing", () => {
    expect(computeLockStatistics("x", [], 1_000)).toEqual({
      lock: "x",
      runs: 0,
      failures: 0,
      busy: undefined,
      held: undefined,
      waited: undefined,
      last: undefined,
    });
  });

  it("count failures, and the share of the time that it was held", () => {
    const runs = [
      createEndedRun({ grantedAt: 3_000, held: 500, waited: 30, exit: 1 }),
      createEndedRun({ grantedAt: 2_000, held: 300, waited: 10 }),
      createEndedRun({ grantedAt: 1_000, held: 200, waited: 20 }),
    ];
    expect(computeLockStatistics("x", runs, 5_000)).toMatchObject({
      runs: 3,
      failures: 1,
      busy: 0.25,
      held: { p50: 300, p95: 500 },
      waited: { p50: 20, p95: 30 },
      last: runs[0],
    });
  });

  it("bear clocks that differ", () => {
    const anyRun = fc
      .record({ grantedAt: fc.integer(), held: fc.integer(), waited: fc.integer() })
      .map(createEndedRun);
    fc.assert(
      fc.property(fc.array(anyRun, { minLength: 1 }), fc.integer(), (runs, wall) => {
        const { busy, held } = computeLockStatistics("x", runs, wall);
        if (busy !== undefined) expect(busy >= 0 && busy <= 1).toBe(true);
        expect(held?.p50).toBeGreaterThanOrEqual(0);
        expect(computeTypicalHeld(runs)).toEqual(held);
      }),
    );
  });
});
