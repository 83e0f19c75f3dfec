import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { BenchCluster } from "../bench-cluster.ts";
import { formatNumber, printNote, printTable } from "../figures.ts";
import { type BenchAgent, measureMemory, readThreadTime } from "./agent-process.ts";
import type { Target } from "./targets.ts";

/** Number of runs that start at the same time. */
const AT_ONCE = 50;
/** Time after the last claim before the measurement, ms: V8 collects garbage, and the watches begin. */
const SETTLE = 15_000;
const PREFIX = "/signalbox/locks/bench-holders-";

/** Measures the processor time and memory of an agent whose runs all hold a lock of their own, and do nothing. */
export async function benchmarkHolders(cluster: BenchCluster, agent: BenchAgent): Promise<Target[]> {
  const holders = cluster.quick ? 100 : 1_000;
  const children: ChildProcess[] = [];
  try {
    await addHolders(cluster, agent, children, holders);
    await pause(cluster.quick ? 2_000 : SETTLE);
    const within = cluster.quick ? 5_000 : 30_000; // several renewals
    const before = readThreadTime(agent.pid);
    await pause(within);
    const percent = ((readThreadTime(agent.pid) - before) / within) * 100;
    const mib = measureMemory([agent.pid]);
    const row = [String(holders), formatNumber(percent, 2), formatNumber(mib)];
    printTable("The agent while all runs hold a claim", ["holders", "% of a core", "PSS, MiB"], [row]);
    printNote(`over ${within / 1000} s`);
    return [
      { what: `${holders} held claims, % of a core`, value: percent, most: 1 },
      { what: `${holders} held claims, MiB of the agent`, value: mib, most: 120 },
    ];
  } finally {
    await endHolders(children);
  }
}

/** Starts runs that hold, until there are so many. All hold their claims then. */
export async function addHolders(
  cluster: BenchCluster,
  agent: BenchAgent,
  children: ChildProcess[],
  wanted: number,
): Promise<void> {
  while (children.length < wanted) {
    for (let more = Math.min(AT_ONCE, wanted - children.length); more > 0; more -= 1)
      children.push(hold(agent, children.length));
    while ((await cluster.countKeys(PREFIX)) < children.length) await pause(20);
  }
}

export async function endHolders(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(children.map(end));
}

function hold(agent: BenchAgent, at: number): ChildProcess {
  const [file, ...args] = agent.buildLauncherArgv("--lock", `bench-holders-${at}`, "--", "sleep", "3600");
  return spawn(file, args, { env: agent.env, stdio: ["ignore", "ignore", "inherit"] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
