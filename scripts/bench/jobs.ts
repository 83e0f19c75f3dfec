/** Jobs of the library beside graphile-worker on PostgreSQL and BullMQ on Redis, in one run. */
import { mkdir, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { startPostgres, startRedis } from "../../fixtures/data-stores.ts";
import { findOrUnpack } from "../../fixtures/packages/debian-packages.ts";
import { runTool } from "../../fixtures/run-tool.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { mapAtMost } from "../../src/core/base/wait.ts";
import { connect, Worker } from "../../src/library/index.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";

/** Jobs that are added and done; a tenth with --quick. */
const JOBS = 10_000;
/** Calls, and tasks of the worker, at the same time. */
const AT_ONCE = 50;
/** Jobs in a batch. */
const BATCH = 1_000;
/** Jobs whose latency is measured, one after the other; a tenth with --quick. */
const PINGS = 300;

/** A queue of jobs and its worker, in this process. */
interface Peer {
  readonly name: string;
  add(n: number): Promise<unknown>;
  addMany(numbers: readonly number[]): Promise<unknown>;
  /** Starts a worker. @returns a function that stops it */
  work(handle: (n: number) => void): Promise<() => Promise<unknown>>;
  close(): Promise<unknown>;
}

/** Jobs a second, and ms. */
interface JobFigures {
  add: number;
  addMany: number;
  process: number;
  latency: number;
  late: number;
}

/** Measures how fast jobs are added and done, and how long one takes from the call to its start. */
export async function benchmarkJobs(cluster: BenchCluster): Promise<void> {
  const peers = await loadPeers();
  const figures = new Map<string, JobFigures>();
  for (const open of [() => openSignalbox(cluster), () => openGraphile(peers), () => openBullmq(peers)]) {
    const peer = await open();
    try {
      figures.set(peer.name, await measure(peer, cluster.quick ? 10 : 1));
    } finally {
      await peer.close();
    }
  }
  printFigures(figures);
}

async function measure(peer: Peer, divisor: number): Promise<JobFigures> {
  const count = JOBS / divisor;
  const numbers = Array.from({ length: count }, (_, n) => n);
  const batches = Array.from({ length: count / BATCH }, (_, n) => numbers.slice(n * BATCH, (n + 1) * BATCH));
  await peer.addMany([0]); // prepares statements and sessions
  const add = await measureRate(count, () => mapAtMost(numbers, AT_ONCE, (n) => peer.add(n)));
  const addMany = await measureRate(count, async () => {
    for (const batch of batches) await peer.addMany(batch);
  });
  const started = new Map<number, () => void>();
  let done = 0;
  const all = 2 * count + 1;
  const begin = performance.now();
  const stop = await peer.work((n) => {
    done += 1;
    started.get(n)?.();
  });
  await waitUntil("the end of all jobs", async () => done >= all);
  const rate = all / ((performance.now() - begin) / 1_000);
  const latencies: number[] = [];
  for (let n = -1; n >= -PINGS / divisor; n -= 1) {
    const start = Promise.withResolvers<void>();
    started.set(n, start.resolve);
    const from = performance.now();
    await Promise.all([peer.add(n), start.promise]);
    latencies.push(performance.now() - from);
  }
  await stop();
  const [latency, late] = [0.5, 0.95].map((part) => computeQuantile(latencies, part));
  return { add, addMany, process: rate, latency: latency ?? Number.NaN, late: late ?? Number.NaN };
}

async function measureRate(count: number, work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return count / ((performance.now() - begin) / 1_000);
}

function printFigures(figures: ReadonlyMap<string, JobFigures>): void {
  const own = figures.get("signalbox");
  const rows = [...figures].map(([name, { add, addMany, process, latency, late }]) => [
    name,
    ...[add, addMany, process].map((rate) => formatNumber(rate, 0)),
    ...[latency, late].map((ms) => formatNumber(ms)),
  ]);
  const ratios = [...figures]
    .slice(1)
    .map(([name, other]) => [
      `signalbox / ${name}`,
      ...(["add", "addMany", "process", "latency", "late"] as const).map((key) =>
        formatNumber((own?.[key] ?? Number.NaN) / other[key], 2),
      ),
    ]);
  printTable(
    `Jobs: ${AT_ONCE} calls and ${AT_ONCE} tasks at the same time, batches of ${BATCH}`,
    ["", "add/s", "addMany/s", "process/s", "latency p50, ms", "p95, ms"],
    [...rows, ...ratios],
  );
  printNote("Ratios: for add, addMany and process, more is faster; for the latency, less is faster.");
  printNote(
    "etcd and PostgreSQL sync each commit to disk; Redis appends to a log, which it syncs each second.",
  );
  printNote("One program adds and works. It shares the processors with the server that stores the jobs.");
}

async function openSignalbox({ endpoints }: BenchCluster): Promise<Peer> {
  const signalbox = await connect({ endpoints: [...endpoints], connectTimeout: "60s", env: {} });
  return {
    name: "signalbox",
    add: (n) => signalbox.jobs.add("work", n),
    addMany: (numbers) => signalbox.jobs.addMany(numbers.map((n) => ({ type: "work", data: n }))),
    async work(handle) {
      const handlers = { work: ({ data }: { data: number }) => handle(data) };
      const worker = new Worker<{ work: number }>(signalbox, { concurrency: AT_ONCE, handlers });
      void worker.run();
      return () => worker.close();
    },
    close: () => signalbox.close(),
  };
}

/** The part of graphile-worker that is used. */
interface Graphile {
  Logger: new (create: () => () => void) => unknown;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: unknown): Promise<unknown>;
    addJobs(jobs: readonly object[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
}

async function openGraphile(peers: NodeJS.Require): Promise<Peer> {
  const { Logger, makeWorkerUtils, run }: Graphile = peers("graphile-worker");
  const server = await startPostgres({ syncs: true });
  const { PGHOST = "", PGUSER, PGDATABASE } = server.env;
  const connectionString = `postgresql://${PGUSER}@/${PGDATABASE}?host=${encodeURIComponent(PGHOST)}`;
  const options = { connectionString, logger: new Logger(() => () => {}), maxPoolSize: AT_ONCE };
  const utils = await makeWorkerUtils(options);
  await utils.migrate();
  return {
    name: "graphile-worker",
    add: (n) => utils.addJob("work", { n }),
    addMany: (numbers) => utils.addJobs(numbers.map((n) => ({ identifier: "work", payload: { n } }))),
    async work(handle) {
      const taskList = { work: ({ n }: { n: number }) => handle(n) };
      const runner = await run({ ...options, taskList, concurrency: AT_ONCE, noHandleSignals: true });
      return () => runner.stop();
    },
    async close() {
      await utils.release();
      await server.stop();
    },
  };
}

/** The part of BullMQ that is used. */
interface Bullmq {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: unknown): Promise<unknown>;
    addBulk(jobs: readonly object[]): Promise<unknown>;
    close(): Promise<void>;
  };
  Worker: new (
    name: string,
    handle: (job: { data: number }) => Promise<void>,
    options: object,
  ) => { close(): Promise<void> };
}

async function openBullmq(peers: NodeJS.Require): Promise<Peer> {
  const { Queue, Worker: BullWorker }: Bullmq = peers("bullmq");
  const server = await startRedis({ appends: true });
  const connection = { host: "127.0.0.1", port: server.port };
  const queue = new Queue("work", { connection, defaultJobOptions: { removeOnComplete: true } });
  return {
    name: "BullMQ",
    add: (n) => queue.add("work", n),
    addMany: (numbers) => queue.addBulk(numbers.map((n) => ({ name: "work", data: n }))),
    async work(handle) {
      const options = { connection, concurrency: AT_ONCE };
      const worker = new BullWorker("work", async ({ data }) => handle(data), options);
      return () => worker.close();
    },
    async close() {
      await queue.close();
      await server.stop();
    },
  };
}

const PEERS = ["graphile-worker@0.18.0", "bullmq@6.7.0", "ioredis@5.11.1"];

/** Installs the peers into the project's cache, at the first use. @returns a function that loads one */
async function loadPeers(): Promise<NodeJS.Require> {
  const folder = path.resolve(import.meta.dirname, "../../.cache/bench-peers", PEERS.join("+"));
  const find = async () => ((await readdir(folder).catch(() => [])).length > 0 ? folder : undefined);
  await findOrUnpack(folder, find, async (_, target) => {
    await mkdir(target); // npm does not create it in a folder of another package, whose .npmrc refuses unknown install scripts
    await runTool`npm install --prefix ${target} --ignore-scripts --no-audit --no-fund ${PEERS}`;
  });
  return createRequire(path.join(folder, "peers.js"));
}
