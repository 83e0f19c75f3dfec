import { type BenchCluster, runOnCluster } from "./bench-cluster.ts";
import { formatNumber, printTable } from "./figures.ts";
import { measureDays } from "./growth/days.ts";
import { findTooFast, type GrowthSeries } from "./growth/growth-series.ts";
import { measureLocks } from "./growth/locks.ts";
import { measureRuns } from "./growth/runs.ts";
import { measureSchedules } from "./growth/schedules.ts";
import { measureWaiters } from "./growth/waiters.ts";
import { measureWorkers } from "./growth/workers.ts";

/** Measures costs at each size. Sizes grow, so each may add to what the one before has made. */
type Measure = (cluster: BenchCluster, sizes: readonly number[]) => Promise<GrowthSeries[]>;

const SUBJECTS: Readonly<Record<string, { measure: Measure; sizes: readonly number[] }>> = {
  runs: { measure: measureRuns, sizes: [10, 100, 600] },
  waiters: { measure: measureWaiters, sizes: [10, 100, 1_000, 10_000] },
  schedules: { measure: measureSchedules, sizes: [1_000, 10_000, 100_000] },
  workers: { measure: measureWorkers, sizes: [1, 2, 4, 8] },
  locks: { measure: measureLocks, sizes: [100, 1_000, 10_000] },
  days: { measure: measureDays, sizes: [1, 7, 49] },
};

/** The sizes of each subject that is measured. */
export type ChosenSizes = ReadonlyMap<string, readonly number[]>;

export const SUBJECT_NAMES = Object.keys(SUBJECTS);

/**
 * Parses `runs=10,100`, for each subject.
 * @returns the sizes of the named subjects, in growing order; of all if none is named; a fault
 */
export function parseSizes(words: readonly string[]): ChosenSizes | { fault: string } {
  const chosen = new Map<string, readonly number[]>();
  for (const word of words) {
    const [, name = "", list = ""] = /^(\w+)=(\d+(?:,\d+)+)$/.exec(word) ?? [];
    const sizes = [...new Set(list.split(",").map(Number))].sort((a, b) => a - b);
    if (!Object.hasOwn(SUBJECTS, name) || sizes.length < 2 || sizes[0] === 0)
      return {
        fault: `--sizes must be one of ${SUBJECT_NAMES.join(", ")}, and two sizes or more, such as runs=10,100; got ${JSON.stringify(word)}`,
      };
    chosen.set(name, sizes);
  }
  if (chosen.size > 0) return chosen;
  return new Map(Object.entries(SUBJECTS).map(([name, { sizes }]) => [name, sizes]));
}

/** Measures how costs grow with what is beside them, and prints the exponents. @returns what grows too fast */
export async function benchmarkGrowth(chosen: ChosenSizes): Promise<string[]> {
  const failed: string[] = [];
  for (const [name, sizes] of chosen) {
    const costs = await findTooFast(() => measureSubject(name, sizes));
    failed.push(...costs.map((cost) => `${cost}, by ${name}`));
  }
  return failed;
}

/** Measures a subject on an etcd of its own. */
async function measureSubject(name: string, sizes: readonly number[]): Promise<GrowthSeries[]> {
  let series: GrowthSeries[] = [];
  await runOnCluster(async (cluster) => {
    series = (await SUBJECTS[name]?.measure(cluster, sizes)) ?? [];
  }, false);
  const rows = series.map((one) => [
    one.cost,
    ...sizes.map((size) => formatNumber(one.getMedians().get(size), 2)),
    formatNumber(one.computeExponent(), 2),
    formatNumber(one.limit),
    one.isTooFast() ? "TOO FAST" : "met",
  ]);
  const head = ["", ...sizes.map(String), "exponent", "at most", ""];
  printTable(`Growth by ${name}, medians at each size`, head, rows);
  return series;
}
