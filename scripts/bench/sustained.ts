import { setTimeout as pause } from "node:timers/promises";
import { MINUTE, type WallSteps } from "../../fixtures/schedule/stepped-clock.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { formatDue } from "../../src/schedule/state/due.ts";
import { computeFirstDue } from "../../src/schedule/state/due-transitions.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";
import { readProcessorTime } from "./measure.ts";
import { readRaftIndex } from "./proposals.ts";
import { bundleWorker, WatchedWorker } from "./watched-worker.ts";

const PREFIX = "/signalbox/";
const WORKERS = 4;
const SCHEDULES = 1_000;
const BASE = Date.parse("2026-03-02T00:00:00Z");
/** How often all schedules are due, and for how long; ms. */
const STEP = 5_000;
const DURATION = 300_000;
/** Length of one row of the table, ms. */
const WINDOW = 30_000;

/**
 * Measures a load that goes on: a thousand schedules that are due every five seconds, for five minutes. The wall clock of the
 * workers goes on by a minute every five seconds, because a minute is the smallest unit of a cron text.
 */
export async function benchmarkSustained(cluster: BenchCluster): Promise<void> {
  const duration = cluster.quick ? 2 * WINDOW : DURATION;
  const count = duration / STEP;
  await fillSchedules(cluster, count);
  const script = await bundleWorker(cluster.folder);
  const steps: WallSteps = { base: BASE - MINUTE, began: Date.now() + 5_000 - STEP, step: STEP };
  const words = [cluster.etcd.clientUrl, PREFIX, JSON.stringify(steps)];
  const workers = Array.from({ length: WORKERS }, () => new WatchedWorker(script, words));
  try {
    const joined = await Promise.all(workers.map((worker) => worker.joined));
    const before = { raft: await readRaftIndex(cluster), ...readTimes(cluster, workers) };
    const rows = await collectRows(workers, count);
    await pause(1_000); // until the last result is stored
    const after = { raft: await readRaftIndex(cluster), ...readTimes(cluster, workers) };
    printTable(
      `${SCHEDULES} schedules, due every ${STEP / 1_000} s, ${WORKERS} workers`,
      ["seconds", "started", "p50, s", "p95, s", "p99, s", "most, s", "memory, MiB"],
      rows,
    );
    const starts = count * SCHEDULES;
    printNote(
      `per start: ${formatNumber(Number(after.raft - before.raft) / starts, 3)} raft entries; processor time ` +
        `${formatNumber((after.workers - before.workers) / starts, 2)} ms in the workers, ${formatNumber((after.etcd - before.etcd) / starts, 2)} ms in etcd`,
    );
    const start = Math.max(...joined.map(({ rss }) => rss));
    printNote(
      `memory of a worker at its start: ${formatNumber(start, 0)} MiB; keys in etcd: ${await cluster.countKeys(PREFIX)}`,
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** Collects one row for each window, until everything has started. */
async function collectRows(workers: readonly WatchedWorker[], count: number): Promise<string[][]> {
  const rows: string[][] = [];
  const taken = workers.map(() => 0);
  const began = Date.now();
  for (let started = 0; started < count * SCHEDULES; ) {
    await pause(WINDOW);
    const late = workers.flatMap((worker, at) => worker.late.slice(taken[at]));
    for (const [at, worker] of workers.entries()) taken[at] = worker.late.length;
    started += late.length;
    const quantiles = [0.5, 0.95, 0.99, 1].map((share) =>
      formatNumber(computeQuantile(late, share) / 1_000, 2),
    );
    const memory = formatNumber(Math.max(...workers.map(({ lastRss }) => lastRss)), 0);
    rows.push([formatNumber((Date.now() - began) / 1_000, 0), String(late.length), ...quantiles, memory]);
  }
  return rows;
}

function readTimes(cluster: BenchCluster, workers: readonly WatchedWorker[]) {
  return {
    workers: workers.reduce((sum, { pid }) => sum + readProcessorTime(pid), 0),
    etcd: readProcessorTime(cluster.etcd.pid as number),
  };
}

/** @param count  occurrences of each schedule */
async function fillSchedules({ store }: BenchCluster, count: number): Promise<void> {
  const keys = createKeys(PREFIX);
  const definition: Definition = {
    cron: "* * * * *",
    catchup: "all",
    timezone: "UTC",
    command: ["./report.sh"],
    end: BASE + (count - 1) * MINUTE,
  };
  const puts = Array.from({ length: SCHEDULES }, (_, n) => `job.${n}`).flatMap((id) => [
    { op: "put", key: keys.schedule(id), value: formatDefinition(definition) } as const,
    { op: "put", key: keys.due(id), value: formatDue(computeFirstDue(id, definition, BASE)) } as const,
  ]);
  for (let at = 0; at < puts.length; at += 100)
    await store.commitTxn({ compare: [], success: puts.slice(at, at + 100), failure: [] });
}
