import type { ChildProcess } from "node:child_process";
import { withAgent } from "../agent/agent-process.ts";
import { addHolders, endHolders } from "../agent/holders.ts";
import { measureCaller } from "../agent/single-runs.ts";
import type { BenchCluster } from "../bench-cluster.ts";
import { GrowthSeries } from "./growth-series.ts";

/** Starts of each measurement, and measurements at each size. */
const STARTS = 10;
const ROUNDS = 5;

/** Measures a start by the runs of the host, which hold a lock each. */
export async function measureRuns(cluster: BenchCluster, sizes: readonly number[]): Promise<GrowthSeries[]> {
  const launched = new GrowthSeries("processor time of a start through an agent, ms", "constant");
  const classic = new GrowthSeries("processor time of a start without agent, ms", "constant");
  const words = ["--lock", "bench-growth", "--", "true"];
  const runs: ChildProcess[] = [];
  await withAgent(cluster, async (agent) => {
    try {
      for (const size of sizes) {
        await addHolders(cluster, agent, runs, size);
        for (let round = 0; round < ROUNDS; round += 1) {
          launched.add(size, await measureCaller(agent.buildLauncherArgv(...words), STARTS, agent.env));
          const argv = cluster.buildSignalboxArgv("run", ...words);
          classic.add(size, await measureCaller(argv, STARTS, cluster.env));
        }
      }
    } finally {
      await endHolders(runs);
    }
  });
  return [launched, classic];
}
