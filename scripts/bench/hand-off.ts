import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Argv, BenchCluster } from "./bench-cluster.ts";
import { computeMean, computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";

/** Number of waiters that start at the same time. More would overload a small machine. */
const AT_ONCE = 10;
/** Estimated memory of a waiting process, in bytes. A queue length is skipped if its waiters need more than is free. */
const ROOM = 40 * 1024 * 1024;
const LOCK = "bench-hand-off";

export interface Series {
  /** Times from the end of one command to the start of the next, ms. */
  gaps: number[];
  /** Number of events that etcd sent to watchers, per hand-off. */
  events: number;
}

export interface Contender {
  what: string;
  /** Builds the command line that waits for the lock, then runs the command. */
  buildWaitArgv(command: string[]): Argv;
  /** Prefix of the keys of its queue. */
  prefix: string;
  /** Its environment, if it is not that of the cluster. */
  env?: NodeJS.ProcessEnv;
}

/** Measures how fast the next waiter starts when the lock becomes free, for several queue lengths. */
export async function benchmarkHandOff(cluster: BenchCluster): Promise<void> {
  const contenders: Contender[] = [
    {
      what: "run --wait",
      buildWaitArgv: (command) =>
        cluster.buildSignalboxArgv("run", "--wait", "--lock", LOCK, "--", ...command),
      prefix: `/signalbox/locks/${LOCK}/`,
    },
    {
      what: "etcdctl lock",
      buildWaitArgv: (command) => cluster.buildEtcdctlArgv(LOCK, ...command),
      prefix: `${LOCK}/`,
    },
  ];
  const rows: string[][] = [];
  for (const waiters of cluster.quick ? [2, 10] : [2, 10, 50, 200]) {
    for (const contender of contenders) {
      if (freemem() < waiters * ROOM) continue;
      // A short queue gives few measurements, so it is repeated until there are enough.
      const series: Series[] = [];
      while (series.flatMap(({ gaps }) => gaps).length < (cluster.quick ? 4 : 30))
        series.push(await measureQueue(cluster, contender, waiters));
      rows.push(formatRow(contender.what, waiters, series));
    }
  }
  const head = ["", "waiters", "p50 ms", "p95", "max", "hand-offs", "watch events each"];
  printTable("Hand-off: from the end of one command to the start of the next", head, rows);
  printNote("includes the start of a shell and of date(1), in the same way for all");
}

function formatRow(what: string, waiters: number, series: readonly Series[]): string[] {
  const gaps = series.flatMap((one) => one.gaps);
  const quantiles = [0.5, 0.95, 1].map((part) => formatNumber(computeQuantile(gaps, part)));
  const events = computeMean(series.map((one) => one.events));
  return [what, String(waiters), ...quantiles, String(gaps.length), formatNumber(events, 2)];
}

/**
 * Starts one holder and a queue of waiters. All wait before the holder ends.
 * @param onQueued  called with the process ids of the waiters while all wait
 */
export async function measureQueue(
  cluster: BenchCluster,
  { buildWaitArgv, prefix, env = cluster.env }: Contender,
  waiters: number,
  onQueued?: (pids: number[]) => void,
): Promise<Series> {
  const stamps = join(cluster.folder, `stamps-${Math.random()}`);
  const go = `${stamps}.go`;
  const stamp = `date +%s%N >> '${stamps}'`;
  const holder = start(
    buildWaitArgv(["sh", "-c", `until [ -e '${go}' ]; do sleep 0.05; done; ${stamp}`]),
    env,
  );
  const queue: ChildProcess[] = [];
  try {
    await waitUntilQueued(cluster, prefix, 1);
    while (queue.length < waiters) {
      const more = Math.min(AT_ONCE, waiters - queue.length);
      for (let i = 0; i < more; i += 1)
        queue.push(start(buildWaitArgv(["sh", "-c", `${stamp}; ${stamp}`]), env));
      await waitUntilQueued(cluster, prefix, queue.length + 1);
    }
    await pause(500); // the last waiters still open their watches
    onQueued?.(queue.map(({ pid = 0 }) => pid));
    const before = await countWatchEvents(cluster);
    writeFileSync(go, "");
    await Promise.all([holder, ...queue].map(waitForEnd));
    const events = ((await countWatchEvents(cluster)) - before) / waiters;
    return { gaps: parseGaps(readFileSync(stamps, "utf8")), events };
  } finally {
    if (!existsSync(go)) for (const child of [holder, ...queue]) child.kill("SIGKILL");
  }
}

function start([file, ...args]: Argv, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(file, args, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.exitCode !== 0) throw new Error(`a waiter ended with ${child.signalCode ?? child.exitCode}`);
}

async function waitUntilQueued(cluster: BenchCluster, prefix: string, wanted: number): Promise<void> {
  while ((await cluster.countKeys(prefix)) < wanted) await pause(20);
}

/** Reads the timestamps, in ns: the end of the holder, then start and end of each waiter. */
function parseGaps(text: string): number[] {
  const stamps = text.trim().split("\n").map(BigInt);
  return stamps.flatMap((end, at) => {
    const next = stamps[at + 1];
    return at % 2 === 0 && next !== undefined ? [Number(next - end) / 1e6] : [];
  });
}

/** Reads from etcd's metrics how many events it has sent to watchers so far. */
async function countWatchEvents({ etcd }: BenchCluster): Promise<number> {
  const text = await (await fetch(`${etcd.clientUrl}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_events_total (\S+)$/m.exec(text)?.[1]);
}
