import type { BenchCluster } from "../bench-cluster.ts";
import { computeQuantile } from "../figures.ts";
import { withWorkers } from "../schedules.ts";
import { bundleWorker } from "../watched-worker.ts";
import { GrowthSeries } from "./growth-series.ts";
import { measureFirings } from "./schedules.ts";

/** Schedules that are due at one instant. */
const BURST = 3_000;

/** Measures schedules that are due at one instant by the workers that share them. */
export async function measureWorkers(
  cluster: BenchCluster,
  sizes: readonly number[],
): Promise<GrowthSeries[]> {
  const processor = new GrowthSeries("processor time of a firing, with etcd, ms", "shared");
  // With fewer processors than workers, all are late by the processor time.
  const late = new GrowthSeries(`lateness of ${BURST} firings, p95, ms`, "shared");
  const script = await bundleWorker(cluster.folder);
  for (const size of sizes) {
    await withWorkers(script, cluster, size, async (workers) => {
      for (const firing of await measureFirings(cluster, workers, BURST)) {
        processor.add(size, firing.processor);
        late.add(size, computeQuantile(firing.late, 0.95));
      }
    });
  }
  return [processor, late];
}
