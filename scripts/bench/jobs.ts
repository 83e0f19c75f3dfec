/** Jobs of the library beside graphile-worker on PostgreSQL and BullMQ on Redis, in one run. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { startPostgres, startRedis } from "../../fixtures/data-stores.ts";
import { findOrUnpack } from "../../fixtures/packages/debian-packages.ts";
import { runTool } from "../../fixtures/run-tool.ts";
import { mapAtMost } from "../../src/core/base/clock.ts";
import { connect, Worker } from "../../src/library/index.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";

/** Most jobs that are added one by one, and in batches; a tenth with --quick. */
const JOBS = 5_000;
/** Calls, and tasks of the worker, at the same time. */
const AT_ONCE = 50;
/** Jobs in a batch. */
const BATCH = 500;
/** Most jobs whose latency is measured, one after the other; a tenth with --quick. */
const PINGS = 500;
/** Most time for each measurement, ms: four queues are measured in less than five minutes, however slow the machine is. */
const LIMITS_MS = { add: 12_000, addMany: 8_000, process: 20_000, latency: 15_000 };

type JobType = "work" | "ping";

/** A queue of jobs and its worker, in this process. */
interface Peer {
  readonly name: string;
  /** The server, and when it has a job on disk, by its own settings. */
  readonly durability: string;
  add(type: JobType, n: number): Promise<unknown>;
  addMany(type: JobType, numbers: readonly number[]): Promise<unknown>;
  /** Starts a worker. @returns a function that stops it */
  work(type: JobType, handle: (n: number) => void): Promise<() => Promise<unknown>>;
  close(): Promise<unknown>;
}

/** Jobs a second; latencies in ms. */
interface JobFigures {
  durability: string;
  add: number;
  addMany: number;
  process: number;
  p50: number;
  p99: number;
}

const RATES = ["add", "addMany", "process"] as const;
const LATENCIES = ["p50", "p99"] as const;

/** Measures how fast jobs are added and done, and how long one takes from the call to its start. */
export async function benchmarkJobs(cluster: BenchCluster): Promise<void> {
  const peers = await loadPeers();
  const figures = new Map<string, JobFigures>();
  const opens = [
    () => openSignalbox(cluster),
    () => openGraphile(peers),
    () => openBullmq(peers, "always"),
    () => openBullmq(peers, "everysec"),
  ];
  for (const open of opens) {
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
  const numbers = Array.from({ length: JOBS / divisor }, (_, n) => n);
  const batches = Array.from({ length: Math.ceil(numbers.length / BATCH) }, (_, at) =>
    numbers.slice(at * BATCH, (at + 1) * BATCH),
  );
  await peer.addMany("work", [0]); // prepares statements and sessions
  const add = await measureRate(numbers, LIMITS_MS.add, AT_ONCE, (n) => peer.add("work", n));
  const addMany = await measureRate(batches, LIMITS_MS.addMany, 1, (batch) => peer.addMany("work", batch));
  const process = await measureProcessing(peer, 1 + add.done.length + addMany.done.flat().length);
  const latencies = await measureLatencies(peer, PINGS / divisor);
  return {
    durability: peer.durability,
    add: add.done.length / add.seconds,
    addMany: addMany.done.flat().length / addMany.seconds,
    process,
    p50: computeQuantile(latencies, 0.5),
    p99: computeQuantile(latencies, 0.99),
  };
}

/** Does something with each value, until none is left or the time is over. */
async function measureRate<T>(
  values: readonly T[],
  limitMs: number,
  atOnce: number,
  act: (value: T) => Promise<unknown>,
): Promise<{ done: T[]; seconds: number }> {
  const done: T[] = [];
  const begin = performance.now();
  await mapAtMost(values, atOnce, async (value) => {
    if (performance.now() - begin > limitMs) return;
    await act(value);
    done.push(value);
  });
  return { done, seconds: (performance.now() - begin) / 1_000 };
}

/** @returns jobs a second, until all are done or the time is over */
async function measureProcessing(peer: Peer, count: number): Promise<number> {
  let done = 0;
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, LIMITS_MS.process);
  const begin = performance.now();
  const stop = await peer.work("work", () => {
    done += 1;
    if (done === count) over.resolve();
  });
  await over.promise;
  clearTimeout(timer);
  const rate = done / ((performance.now() - begin) / 1_000);
  await stop();
  return rate;
}

/** Adds one job after the other to an idle worker. @returns the times from the calls until the jobs start, ms */
async function measureLatencies(peer: Peer, count: number): Promise<number[]> {
  const latencies: number[] = [];
  let start = Promise.withResolvers<number>();
  const stop = await peer.work("ping", () => start.resolve(performance.now()));
  const begin = performance.now();
  for (let n = 0; n <= count && performance.now() - begin < LIMITS_MS.latency; n += 1) {
    start = Promise.withResolvers<number>();
    const from = performance.now();
    const [, started] = await Promise.all([peer.add("ping", n), start.promise]);
    if (n > 0) latencies.push(started - from); // the first one waits for the worker
  }
  await stop();
  return latencies;
}

function printFigures(figures: ReadonlyMap<string, JobFigures>): void {
  const own = figures.get("signalbox");
  const rows = [...figures].map(([name, one]) => [
    name,
    ...RATES.map((key) => formatNumber(one[key], 0)),
    ...LATENCIES.map((key) => formatNumber(one[key])),
  ]);
  const ratios = [...figures].slice(1).map(([name, other]) => {
    const divide = (key: (typeof RATES | typeof LATENCIES)[number]) =>
      (own?.[key] ?? Number.NaN) / other[key];
    return [`signalbox / ${name}`, ...[...RATES, ...LATENCIES].map((key) => formatNumber(divide(key), 2))];
  });
  printTable(
    `Jobs: ${AT_ONCE} calls and ${AT_ONCE} tasks at the same time, batches of ${BATCH}`,
    ["", "add/s", "addMany/s", "process/s", "add to start p50, ms", "p99, ms"],
    [...rows, ...ratios],
  );
  printNote("Ratios: for add, addMany and process, more is faster; for the latency, less is faster.");
  for (const [name, { durability }] of figures) printNote(`${name}: ${durability}`);
  printNote("One program adds and works. It shares the processors with the server that stores the jobs.");
}

async function openSignalbox({ endpoints, etcd }: BenchCluster): Promise<Peer> {
  const flags = (await readFile(`/proc/${etcd.pid}/cmdline`, "utf8")).split("\0");
  const signalbox = await connect({ endpoints: [...endpoints], connectTimeout: "60s", env: {} });
  return {
    name: "signalbox",
    durability: `etcd, ${flags.findLast((flag) => flag.startsWith("--unsafe-no-fsync"))}: on disk when add returns`,
    add: (type, n) => signalbox.jobs.add(type, n),
    addMany: (type, numbers) => signalbox.jobs.addMany(numbers.map((n) => ({ type, data: n }))),
    async work(type, handle) {
      const handlers = { [type]: ({ data }: { data: number }) => handle(data) };
      const worker = new Worker<Record<string, number>>(signalbox, { concurrency: AT_ONCE, handlers });
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
  const show = async (name: string) => {
    const env = { ...process.env, ...server.env };
    return `${name}=${(await runTool({ env })`psql -Atc ${`SHOW ${name}`}`.text()).trim()}`;
  };
  const settings = [await show("fsync"), await show("synchronous_commit")].join(" ");
  return {
    name: "graphile-worker",
    durability: `PostgreSQL, ${settings}: on disk when add returns`,
    add: (type, n) => utils.addJob(type, { n }),
    addMany: (type, numbers) => utils.addJobs(numbers.map((n) => ({ identifier: type, payload: { n } }))),
    async work(type, handle) {
      const taskList = { [type]: ({ n }: { n: number }) => handle(n) };
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

async function openBullmq(peers: NodeJS.Require, syncs: "always" | "everysec"): Promise<Peer> {
  const { Queue, Worker: BullWorker }: Bullmq = peers("bullmq");
  const server = await startRedis({ syncs });
  const env = { ...process.env, ...server.env };
  const settings = await runTool({ env })`redis-cli config get append[of][ns]*`.lines();
  const connection = { host: "127.0.0.1", port: server.port };
  const createQueue = (type: JobType) =>
    new Queue(type, { connection, defaultJobOptions: { removeOnComplete: true } });
  const queues = { work: createQueue("work"), ping: createQueue("ping") };
  return {
    name: `BullMQ, ${syncs}`,
    durability: `Redis, ${settings.join(" ")}: ${syncs === "always" ? "on disk when add returns" : "on disk up to a second later"}`,
    add: (type, n) => queues[type].add(type, n),
    addMany: (type, numbers) => queues[type].addBulk(numbers.map((n) => ({ name: type, data: n }))),
    async work(type, handle) {
      const options = { connection, concurrency: AT_ONCE };
      const worker = new BullWorker(type, async ({ data }) => handle(data), options);
      return () => worker.close();
    },
    async close() {
      await Promise.all([queues.work.close(), queues.ping.close()]);
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
