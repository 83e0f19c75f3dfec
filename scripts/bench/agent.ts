import { withAgent } from "./agent/agent-process.ts";
import { benchmarkHolders } from "./agent/holders.ts";
import { benchmarkSingleRuns } from "./agent/single-runs.ts";
import { benchmarkStampede } from "./agent/stampede.ts";
import { printTargets, type Target } from "./agent/targets.ts";
import { benchmarkWaiters } from "./agent/waiters.ts";
import type { BenchCluster } from "./bench-cluster.ts";

/** Measures launcher and agent beside `etcdctl lock`, and compares with the targets. Each part has a new agent. */
export async function benchmarkAgent(cluster: BenchCluster): Promise<void> {
  const targets: Target[] = [];
  for (const measure of [benchmarkSingleRuns, benchmarkStampede, benchmarkWaiters, benchmarkHolders])
    targets.push(...(await withAgent(cluster, (agent) => measure(cluster, agent))));
  const members = cluster.endpoints.length;
  printTargets(`Targets, ${members === 1 ? "one member" : `${members} members`}`, targets);
}
