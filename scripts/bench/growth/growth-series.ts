import { computeMean, computeMedian } from "../figures.ts";

/**
 * The largest exponents. The rest is for noise, and for the depth of trees. `shared`: what workers share costs each of them something,
 * with four of them a quarter more in all than with one.
 */
export const GROWTH_LIMITS = { constant: 0.1, shared: Math.log(1.25) / Math.log(4), linear: 1.1 } as const;

/** A cost, measured several times at each of several sizes. */
export class GrowthSeries {
  readonly cost: string;
  readonly limit: number;
  readonly #values = new Map<number, number[]>();

  /** @param growth  how it may grow with the size */
  constructor(cost: string, growth: keyof typeof GROWTH_LIMITS) {
    this.cost = cost;
    this.limit = GROWTH_LIMITS[growth];
  }

  add(size: number, ...values: readonly number[]): void {
    this.#values.set(size, [...(this.#values.get(size) ?? []), ...values]);
  }

  /** Returns the median at each size. */
  getMedians(): Map<number, number> {
    return new Map(Array.from(this.#values, ([size, values]) => [size, computeMedian(values)]));
  }

  /**
   * Fits `cost = factor * size ** exponent` to the medians, by the least squares of the logarithms: 0 if the cost does not depend on
   * the size, 1 if it is proportional. All sizes weigh the same, so that growth which begins at the largest counts.
   * @returns NaN with fewer than two sizes, or a cost that is not above 0
   */
  computeExponent(): number {
    const logs = Array.from(this.getMedians(), ([size, cost]) => ({ x: Math.log(size), y: Math.log(cost) }));
    const x = computeMean(logs.map((log) => log.x));
    const y = computeMean(logs.map((log) => log.y));
    const covariance = computeMean(logs.map((log) => (log.x - x) * (log.y - y)));
    const exponent = covariance / computeMean(logs.map((log) => (log.x - x) ** 2));
    return Number.isFinite(exponent) ? exponent : Number.NaN;
  }

  /** Returns whether it grows faster than it may. What could not be measured does. */
  isTooFast(): boolean {
    return !(this.computeExponent() <= this.limit);
  }
}

/**
 * Measures again if a cost grows too fast, so that a pause of the machine fails nothing.
 * @returns the costs that grow too fast both times
 */
export async function findTooFast(measure: () => Promise<readonly GrowthSeries[]>): Promise<string[]> {
  const list = async () => (await measure()).filter((one) => one.isTooFast()).map(({ cost }) => cost);
  const first = await list();
  const again = first.length === 0 ? [] : await list();
  return first.filter((cost) => again.includes(cost));
}
