import { setTimeout as pause } from "node:timers/promises";
import { measureCaller } from "../agent/single-runs.ts";
import type { BenchCluster } from "../bench-cluster.ts";
import { openLoadedConsole, readResidentMemory } from "../console.ts";
import { readProcessorTime } from "../measure.ts";
import { fillLocks } from "../scale.ts";
import { GrowthSeries } from "./growth-series.ts";

const ROUNDS = 3;
/** Calls of each listing in a measurement. */
const CALLS = 3;
/** How long the console is left alone before it is measured while nothing changes: it gives memory back once, after ten seconds. */
const SETTLE_MS = 16_000;
/** Duration of the measurement while nothing changes. */
const IDLE_MS = 10_000;
/** Less is not distinguished from nothing, % of a processor. */
const LEAST_IDLE_PERCENT = 0.5;

/** Measures listings and the console by the locks, each of which is held and has ten waiters. */
export async function measureLocks(cluster: BenchCluster, sizes: readonly number[]): Promise<GrowthSeries[]> {
  const listings = [
    { args: ["ls", "locks"], growth: "linear" },
    { args: ["ls", "locks", "--limit", "10"], growth: "constant" },
    { args: ["show", "lock", "lock-7"], growth: "constant" },
  ] as const;
  const times = listings.map(
    ({ args, growth }) => new GrowthSeries(`processor time of ${args.join(" ")}, ms`, growth),
  );
  const start = new GrowthSeries("processor time of the console until it is complete, ms", "linear");
  const memory = new GrowthSeries("memory of the console, MiB", "linear");
  const idle = new GrowthSeries("the console while nothing changes, % of a processor", "constant");
  for (const [at, size] of sizes.entries()) {
    await fillLocks(cluster.store, size, sizes[at - 1]);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { args }] of listings.entries())
        times[index]?.add(size, await measureCaller(cluster.buildSignalboxArgv(...args), CALLS, cluster.env));
      const terminal = await openLoadedConsole(cluster);
      try {
        start.add(size, readProcessorTime(terminal.pid));
        await pause(SETTLE_MS);
        const before = readProcessorTime(terminal.pid);
        await pause(IDLE_MS);
        const percent = (100 * (readProcessorTime(terminal.pid) - before)) / IDLE_MS;
        idle.add(size, Math.max(percent, LEAST_IDLE_PERCENT));
        memory.add(size, readResidentMemory(terminal.pid)[0]);
      } finally {
        await terminal.close();
      }
    }
  }
  return [...times, start, memory, idle];
}
