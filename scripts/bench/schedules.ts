import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../src/core/etcd/store.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import type { Op } from "../../src/core/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { formatDue } from "../../src/schedule/state/due.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";
import { readProcessorTime } from "./measure.ts";
import { readRaftIndex } from "./proposals.ts";
import { bundleWorker, type JoinedMessage, WatchedWorker } from "./watched-worker.ts";

const PREFIX = "/signalbox/";
const WORKERS = 4;
/** Operations per transaction. etcd accepts at most 128. */
const BATCH = 120;
const AT_ONCE = 8;
/** How often many are due at one instant. */
const BURSTS = 3;
/** Duration of the measurement while nothing is due, ms. */
const IDLE = 10_000;

type Work = Pick<Definition, "command" | "type">;

/** What the schedules run that are due: a command, as with `signalbox worker`, or a function of a program. */
export const COMMAND: Work = { command: ["./report.sh"] };
const FUNCTION: Work = { type: "report" };

/**
 * Measures 100,000 schedules with four workers; 10,000 schedules are due at one instant. Then the same number is due for four
 * programs that use the library.
 */
export async function benchmarkSchedules(cluster: BenchCluster): Promise<void> {
  const all = cluster.quick ? 10_000 : 100_000;
  const burst = all / 10;
  await fillSchedules(cluster.store, all, undefined, COMMAND);
  const script = await bundleWorker(cluster.folder);
  const first = await measureFirstWorker(script, cluster);
  await withWorkers(script, cluster, WORKERS, async (workers) => {
    const joined = await Promise.all(workers.map((worker) => worker.joined));
    const idle = await measureTraffic(cluster, IDLE);
    const bursts = await measureBursts(cluster, workers, burst, COMMAND);
    printFigures({ all, burst, first, joined, idle, bursts, workers });
  });
  await withWorkers(
    await bundleWorker(cluster.folder, "library-worker"),
    cluster,
    WORKERS,
    async (workers) => {
      await Promise.all(workers.map((worker) => worker.joined));
      const bursts = await measureBursts(cluster, workers, burst, FUNCTION);
      printBursts(`The same, for ${WORKERS} programs with a Worker of the library`, bursts);
    },
  );
  printNote("In the first burst after their start, the workers run code that V8 has not optimized yet.");
  printNote(
    "The tasks do nothing. The workers, etcd and the benchmark share the processors of this machine.",
  );
}

/** Starts the workers, and stops them when `measure` has ended. */
export async function withWorkers(
  script: string,
  cluster: BenchCluster,
  count: number,
  measure: (workers: WatchedWorker[]) => Promise<void>,
): Promise<void> {
  const words = [cluster.etcd.clientUrl, PREFIX];
  const workers = Array.from({ length: count }, () => new WatchedWorker(script, words));
  try {
    await measure(workers);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

async function measureBursts(
  cluster: BenchCluster,
  workers: readonly WatchedWorker[],
  burst: number,
  work: Work,
): Promise<Burst[]> {
  const bursts: Burst[] = [];
  for (let one = 0; one < BURSTS; one += 1) bursts.push(await measureBurst(cluster, workers, burst, work));
  return bursts;
}

interface Burst {
  /** Lateness of each start, ms. */
  late: number[];
  /** Raft entries per start. */
  proposals: number;
  /** Per start. */
  processor: ProcessorTimes;
}

/** Processor time, ms. */
export interface ProcessorTimes {
  workers: number;
  etcd: number;
}

const NOTHING: ProcessorTimes = { workers: 0, etcd: 0 };

/**
 * Makes schedules due at one instant, and waits until all are started and their results stored.
 * @param idle  per second while nothing is due; it is left out of the processor time
 */
export async function measureBurst(
  cluster: BenchCluster,
  workers: readonly WatchedWorker[],
  burst: number,
  work: Work,
  idle = NOTHING,
): Promise<Burst> {
  const taken = workers.map(({ late }) => late.length);
  const listLate = () => workers.flatMap(({ late }, at) => late.slice(taken[at]));
  const entries = await readRaftIndex(cluster);
  const due = Date.now() + 3_000;
  await fillSchedules(cluster.store, burst, due, work);
  const times = readTimes(cluster, workers);
  const from = performance.now();
  const fillCost = BigInt(Math.ceil((2 * burst) / BATCH));
  while (listLate().length < burst) await pause(100);
  await pause(2_000); // until the last result is stored
  const after = readTimes(cluster, workers);
  const seconds = (performance.now() - from) / 1_000;
  const computeShare = (name: keyof ProcessorTimes) =>
    (after[name] - times[name] - idle[name] * seconds) / burst;
  return {
    late: listLate(),
    proposals: Number((await readRaftIndex(cluster)) - entries - fillCost) / burst,
    processor: { workers: computeShare("workers"), etcd: computeShare("etcd") },
  };
}

/** Measures the processor time per second while nothing is due. */
export async function measureIdle(
  cluster: BenchCluster,
  workers: readonly WatchedWorker[],
): Promise<ProcessorTimes> {
  const before = readTimes(cluster, workers);
  await pause(IDLE);
  const after = readTimes(cluster, workers);
  const seconds = IDLE / 1_000;
  return {
    workers: (after.workers - before.workers) / seconds,
    etcd: (after.etcd - before.etcd) / seconds,
  };
}

/** Reads the processor times so far. */
function readTimes(cluster: BenchCluster, workers: readonly WatchedWorker[]): ProcessorTimes {
  return {
    workers: workers.reduce((sum, { pid }) => sum + readProcessorTime(pid), 0),
    etcd: readProcessorTime(cluster.etcd.pid as number),
  };
}

/** Measures the start of a worker while no other one is there. */
export async function measureFirstWorker(script: string, cluster: BenchCluster): Promise<JoinedMessage> {
  const worker = new WatchedWorker(script, [cluster.etcd.clientUrl, PREFIX]);
  try {
    return await worker.joined;
  } finally {
    await worker.stop();
  }
}

interface Figures {
  all: number;
  burst: number;
  first: JoinedMessage;
  joined: JoinedMessage[];
  idle: { entries: number; sent: number; received: number };
  bursts: Burst[];
  workers: WatchedWorker[];
}

function printFigures({ all, burst, first, joined, idle, bursts, workers }: Figures): void {
  const buildRow = (what: string, pick: (message: JoinedMessage) => number, decimals: number) => [
    what,
    formatNumber(pick(first), decimals),
    formatNumber(Math.max(...joined.map(pick)), decimals),
  ];
  printTable(
    `${all} schedules`,
    ["", "one worker", `most of ${WORKERS} at once`],
    [
      buildRow("start until it can start tasks, s", ({ ms }) => ms / 1_000, 2),
      buildRow("processor time of the start, s", ({ cpu }) => cpu / 1_000, 2),
      buildRow("resident memory after the start, MiB", ({ rss }) => rss, 0),
      ["peak resident memory, MiB", "", formatNumber(Math.max(...workers.map(({ rss }) => rss)), 0)],
    ],
  );
  printTable(
    `Nothing is due for ${IDLE / 1_000} s: load of etcd per second`,
    ["", ""],
    [
      ["raft entries", formatNumber(idle.entries)],
      ["bytes to clients", formatNumber(idle.sent, 0)],
      ["bytes from clients", formatNumber(idle.received, 0)],
    ],
  );
  printBursts(`${burst} due at one instant, lateness in s, processor time per start in ms`, bursts);
}

function printBursts(title: string, bursts: readonly Burst[]): void {
  printTable(
    title,
    ["burst", "p50", "p95", "p99", "most", "workers", "etcd", "raft entries per start"],
    bursts.map(({ late, processor, proposals }, at) => [
      String(at + 1),
      ...[0.5, 0.95, 0.99, 1].map((share) => formatNumber(computeQuantile(late, share) / 1_000, 2)),
      ...[processor.workers, processor.etcd].map((ms) => formatNumber(ms, 2)),
      formatNumber(proposals, 3),
    ]),
  );
}

/** Raft entries, and bytes to and from clients, per second. */
async function measureTraffic(cluster: BenchCluster, ms: number): Promise<Figures["idle"]> {
  const readCounters = async () => ({
    entries: Number(await readRaftIndex(cluster)),
    ...(await readBytes(cluster.etcd.clientUrl)),
  });
  const before = await readCounters();
  await pause(ms);
  const after = await readCounters();
  const computeRate = (key: "entries" | "sent" | "received") => (after[key] - before[key]) / (ms / 1_000);
  return { entries: computeRate("entries"), sent: computeRate("sent"), received: computeRate("received") };
}

async function readBytes(url: string): Promise<{ sent: number; received: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const readValue = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    sent: readValue("etcd_network_client_grpc_sent_bytes_total"),
    received: readValue("etcd_network_client_grpc_received_bytes_total"),
  };
}

/** @param due  when all are due, ms since the epoch; undefined: in half a year */
export async function fillSchedules(
  store: Store,
  count: number,
  due: number | undefined,
  work: Work,
): Promise<void> {
  const keys = createKeys(PREFIX);
  const month = new Date(Date.now() + 180 * 86_400_000).getUTCMonth() + 1;
  const definition = formatDefinition({
    cron: `15 3 1 ${month} *`,
    timezone: "UTC",
    ...work,
  });
  const runAt = due ?? Date.now() + 180 * 86_400_000;
  const state = formatDue({ next: runAt, runAt, open: [] });
  const ops = Array.from({ length: count }, (_, n) => `${due === undefined ? "later" : "now"}.${n}`).flatMap(
    (id): Op[] => [
      { op: "put", key: keys.schedule(id), value: definition },
      { op: "put", key: keys.due(id), value: state },
    ],
  );
  let at = 0;
  const fillBatches = async () => {
    while (at < ops.length) {
      const batch = ops.slice(at, at + BATCH);
      at += BATCH;
      await store.commitTxn({ compare: [], success: batch, failure: [] });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fillBatches));
}
