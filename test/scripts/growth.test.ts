/** The exponents of `npm run bench -- growth`. */
import { describe, expect, it } from "vitest";
import { createTestRandom } from "../../fixtures/test-seed.ts";
import { findTooFast, type GROWTH_LIMITS, GrowthSeries } from "../../scripts/bench/growth/growth-series.ts";

const SIZES = [10, 100, 1_000, 10_000];
const random = createTestRandom("growth");

/** @param cost  at a size, in one of five rounds */
function createSeries(growth: keyof typeof GROWTH_LIMITS, cost: (size: number, round: number) => number) {
  const series = new GrowthSeries("a cost", growth);
  for (const size of SIZES) for (let round = 0; round < 5; round += 1) series.add(size, cost(size, round));
  return series;
}

describe("the exponent", () => {
  it.each([
    ["constant", () => 40, 0],
    ["square root", (size: number) => 3 * Math.sqrt(size), 0.5],
    ["linear", (size: number) => 0.2 * size, 1],
    ["square", (size: number) => size * size, 2],
    ["inverse", (size: number) => 5 / size, -1],
  ])("of a cost that is %s", (_, cost, exponent) => {
    expect(createSeries("linear", cost).computeExponent()).toBeCloseTo(exponent, 10);
  });

  it("of a linear cost with a fixed part is below 1", () => {
    const exponent = createSeries("linear", (size) => 500 + size).computeExponent();
    expect(exponent).toBeGreaterThan(0.3);
    expect(exponent).toBeLessThan(1);
  });

  it("does not depend on rounds that were disturbed, as long as most were not", () => {
    const disturbed = createSeries("linear", (size, round) => (round < 2 ? 100 * size * size : size));
    expect(disturbed.computeExponent()).toBeCloseTo(1, 10);
  });

  it("of noise of a fifth stays below the limit", () => {
    for (let time = 0; time < 200; time += 1)
      expect(createSeries("constant", () => random.drawBetween([32, 48])).isTooFast()).toBe(false);
  });

  it("shows growth that begins at the largest size", () => {
    expect(createSeries("constant", (size) => Math.max(10, size / 100)).isTooFast()).toBe(true);
    expect(createSeries("linear", (size) => size * Math.max(1, size / 1_000)).isTooFast()).toBe(true);
  });

  it("of what workers share may be a quarter more with four of them than with one", () => {
    const isTooFast = (more: number) => {
      const series = new GrowthSeries("a cost", "shared");
      for (const [workers, factor] of [1, more, more ** 2].entries()) series.add(4 ** workers, factor);
      return series.isTooFast();
    };
    expect([isTooFast(1.24), isTooFast(1.26)]).toEqual([false, true]);
  });

  it("of what could not be measured is too large", () => {
    expect(new GrowthSeries("nothing", "linear").isTooFast()).toBe(true);
    expect(createSeries("constant", () => 0).isTooFast()).toBe(true);
    expect(createSeries("constant", () => Number.NaN).isTooFast()).toBe(true);
    const single = new GrowthSeries("one size", "linear");
    single.add(10, 5);
    expect(single.isTooFast()).toBe(true);
  });
});

describe("a cost that grows too fast", () => {
  const flat = createSeries("constant", () => 40);
  const steep = createSeries("constant", (size) => size);

  it.each([
    ["once", [[steep], [flat]], []],
    ["twice", [[steep], [steep]], ["a cost"]],
    ["never, so that it is measured once", [[flat]], []],
  ])("%s", async (_, measurements, costs) => {
    const left = [...measurements];
    expect(await findTooFast(async () => left.shift() ?? [])).toEqual(costs);
    expect(left).toEqual([]);
  });
});
