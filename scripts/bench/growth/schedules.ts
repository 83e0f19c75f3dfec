import type { BenchCluster } from "../bench-cluster.ts";
import {
  COMMAND,
  fillSchedules,
  measureBurst,
  measureFirstWorker,
  measureIdle,
  withWorkers,
} from "../schedules.ts";
import { bundleWorker, type WatchedWorker } from "../watched-worker.ts";
import { GrowthSeries } from "./growth-series.ts";

const ROUNDS = 3;
/** Schedules that are due at one instant. */
const BURST = 500;

/** Measures a worker by the schedules that are not due. */
export async function measureSchedules(
  cluster: BenchCluster,
  sizes: readonly number[],
): Promise<GrowthSeries[]> {
  const start = new GrowthSeries("processor time of a worker's start, ms", "linear");
  const memory = new GrowthSeries("memory of a worker after its start, MiB", "linear");
  const firing = new GrowthSeries("processor time of a firing, with etcd, ms", "constant");
  const script = await bundleWorker(cluster.folder);
  for (const size of sizes) {
    await fillSchedules(cluster.store, size, undefined, COMMAND);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { cpu, rss } = await measureFirstWorker(script, cluster);
      start.add(size, cpu);
      memory.add(size, rss);
    }
    await withWorkers(script, cluster, 1, async (workers) => {
      firing.add(size, ...(await measureFirings(cluster, workers, BURST)).map((one) => one.processor));
    });
  }
  return [start, memory, firing];
}

/**
 * Measures schedules that are due at one instant, after as many for each worker, in which V8 has not optimized it. What the workers
 * need when nothing is due is left out.
 */
export async function measureFirings(
  cluster: BenchCluster,
  workers: readonly WatchedWorker[],
  due: number,
): Promise<{ late: number[]; processor: number }[]> {
  await Promise.all(workers.map((worker) => worker.joined));
  for (const _ of workers) await measureBurst(cluster, workers, due, COMMAND);
  const idle = await measureIdle(cluster, workers);
  const firings: { late: number[]; processor: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { late, processor } = await measureBurst(cluster, workers, due, COMMAND, idle);
    firings.push({ late, processor: processor.workers + processor.etcd });
  }
  return firings;
}
