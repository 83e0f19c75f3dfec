import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { LISTINGS } from "../../src/cli/commands/see/ls/ls.ts";
import { serializeDrain } from "../../src/core/protocol/drain.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { readThreadTime } from "./agent/agent-process.ts";
import { type BenchCluster, runProgram } from "./bench-cluster.ts";
import { readResidentMemory } from "./console.ts";
import { startLoad } from "./console-load.ts";
import { computeMedian, computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";
import { fillLocks } from "./scale.ts";

const EVENTS_PER_SECOND = 20;
const VIEWER_COUNT = 200;
/** Pages that are read, not downloaded: the limit of what is sent, kB. */
const MAX_PAGE_KB = 300;
/** A page that takes long is used again for less than this time, ms. */
const REUSE_TIME_MS = 800;
const agent = new Agent({ keepAlive: true });

/** What the process of the page uses. */
interface PageServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Measures `signalbox serve` with 10,000 locks, each held and with ten waiters. */
export async function benchmarkPage(cluster: BenchCluster): Promise<void> {
  const locks = cluster.quick ? 1_000 : 10_000;
  await fillLocks(cluster.store, locks);
  fillOthers(cluster);
  const server = await startServer(cluster);
  try {
    const read = await waitForRead(server);
    const [first] = readResidentMemory(server.pid);
    printTable(
      `The page at ${locks} locks with ${10 * locks} waiters`,
      ["", "s of a processor", "MiB"],
      [["until everything is read", formatNumber(read / 1_000), formatNumber(first, 0)]],
    );
    const load = await startLoad(cluster.store, locks, EVENTS_PER_SECOND);
    try {
      await measureAddresses(cluster, server);
      await measureViewers(cluster, server);
    } finally {
      await load.stop();
    }
  } finally {
    await server.stop();
    agent.destroy();
  }
}

/** Makes what the pages of single objects need. */
function fillOthers({ buildSignalboxArgv, env }: BenchCluster): void {
  const commands = [
    ["group", "set", "web", "web1.example.com", "web2.example.com"],
    ["resource", "set", "db", "3"],
    ["schedule", "add", "nightly", "0 3 * * *", "--", "true"],
    ["run", "--lock", "past", "--lease", "db=1:3", "--", "true"],
  ];
  for (const command of commands) runProgram(buildSignalboxArgv(...command), env);
}

async function startServer({ buildSignalboxArgv, env }: BenchCluster): Promise<PageServer> {
  const [file, ...args] = buildSignalboxArgv("serve", "--listen", "127.0.0.1:0");
  const child = spawn(file, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.setEncoding("utf8");
  let text = "";
  while (!/metrics on \S+\n/.test(text)) [text] = [text + (await once(child.stderr, "data"))[0]];
  child.stderr.resume();
  const [, address = ""] = /metrics on (\S+)\n/.exec(text) ?? [];
  const ended = once(child, "exit");
  return {
    url: `http://${address}`,
    pid: child.pid as number,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** Waits until etcd was read. @returns the processor time until then, ms */
async function waitForRead(server: PageServer): Promise<number> {
  while ((await ask(server, "/healthz")).status !== 200) await pause(100);
  return readThreadTime(server.pid);
}

interface Answer {
  status: number;
  /** Until the first byte, ms. */
  first: number;
  /** As it was sent, compressed. */
  bytes: number;
}

async function ask({ url }: PageServer, path: string): Promise<Answer> {
  const start = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url + path, { agent, headers: { "accept-encoding": "gzip" } }, resolve).on("error", reject);
  });
  const first = performance.now() - start;
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { status: response.statusCode ?? 0, first, bytes };
}

const OBJECT_PATHS = [
  "/lock/lock-7",
  "/resource/db",
  "/host/web1.example.com",
  "/group/web",
  "/run/0000000000007",
  "/schedule/nightly",
  "/queues?filter=lock-77",
  "/queues?sort=-waits",
  "/locks?page=50",
];
const FOR_PROGRAMS = [
  "/locks.json?limit=100",
  "/host/web1.example.com.json",
  "/check",
  "/check/lock/past",
  "/badge/schedule/nightly.svg",
  "/metrics",
];

/** Asks for each kind of address while the site changes. Fails if a page is too large. */
async function measureAddresses(cluster: BenchCluster, server: PageServer): Promise<void> {
  const pages = ["/", ...LISTINGS.filter((id) => id !== "overview").map((id) => `/${id}`), ...OBJECT_PATHS];
  const start = { at: performance.now(), used: readThreadTime(server.pid) };
  await pause(5_000);
  const idle = (readThreadTime(server.pid) - start.used) / (performance.now() - start.at);
  const rows: string[][] = [];
  for (const path of [...pages, ...FOR_PROGRAMS]) {
    const [first, ...later] = await askAgain(server, path, idle, cluster.quick ? 4 : 8);
    if (first === undefined || ![200, 503].includes(first.status))
      throw new Error(`${path}: ${first?.status}`);
    const bytes = Math.max(...[first, ...later].map((answer) => answer.bytes));
    if (pages.includes(path) && bytes > MAX_PAGE_KB * 1e3)
      throw new Error(`${path} has ${bytes} bytes, compressed: more than ${MAX_PAGE_KB} kB`);
    const times = [
      first.used,
      computeMedian(later.map(({ used }) => used)),
      first.first,
      computeMedian(later.map((answer) => answer.first)),
    ];
    rows.push([path, ...times.map((ms) => formatNumber(ms, 0)), formatNumber(bytes / 1e3)]);
  }
  const head = ["", "processor, first, ms", "later", "first byte, first, ms", "later", "kB"];
  printTable(`Each address, ${EVENTS_PER_SECOND} changes per second`, head, rows);
  printNote(
    `later: median; without requests: ${formatNumber(100 * idle)} % of a processor, which is taken off`,
  );
}

interface PricedAnswer extends Answer {
  /** Processor time, ms. */
  used: number;
}

/** Asks for an address again and again, each time for another state of the site. @param idle  use of a processor without requests */
async function askAgain(
  server: PageServer,
  path: string,
  idle: number,
  times: number,
): Promise<PricedAnswer[]> {
  const answers: PricedAnswer[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    await pause(REUSE_TIME_MS);
    const before = { at: performance.now(), used: readThreadTime(server.pid) };
    const answer = await ask(server, path);
    const took = performance.now() - before.at;
    answers.push({ ...answer, used: readThreadTime(server.pid) - before.used - idle * took });
  }
  return answers;
}

/** What the viewers look at, each at one of these. */
const VIEWED_PATHS = [
  "/",
  "/locks",
  "/queues",
  "/runs",
  "/hosts",
  "/problems",
  "/lock/lock-7",
  "/macros",
  "/history",
  "/host/web1.example.com",
];

/** Measures many viewers, and how long a change takes to reach one. */
async function measureViewers(cluster: BenchCluster, server: PageServer): Promise<void> {
  const rows: string[][] = [];
  for (const paths of [["/locks"], VIEWED_PATHS]) {
    const viewers = Array.from({ length: VIEWER_COUNT }, (_, at) =>
      startViewer(server, paths[at % paths.length] as string),
    );
    await Promise.all(viewers.map(({ waitFor }) => waitFor("data:")));
    const before = { at: performance.now(), used: readThreadTime(server.pid) };
    await pause(cluster.quick ? 5_000 : 20_000);
    const share = (readThreadTime(server.pid) - before.used) / (performance.now() - before.at);
    const delays = await measureDelays(cluster, viewers[paths.indexOf("/locks")] as Viewer);
    const [rss, peak] = readResidentMemory(server.pid);
    for (const viewer of viewers) viewer.stop();
    rows.push([
      `${VIEWER_COUNT} viewers of ${paths.length} page${paths.length === 1 ? "" : "s"}`,
      formatNumber(share, 2),
      formatNumber(rss, 0),
      formatNumber(peak, 0),
      ...[0.5, 0.95, 1].map((part) => formatNumber(computeQuantile(delays, part), 0)),
    ]);
  }
  const head = ["", "processors", "MiB", "most MiB", "behind etcd p50, ms", "p95", "most"];
  printTable(`Viewers, ${EVENTS_PER_SECOND} changes per second`, head, rows);
}

interface Viewer {
  waitFor(text: string): Promise<void>;
  stop(): void;
}

function startViewer({ url }: PageServer, path: string): Viewer {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  let last = "";
  const fail = () => {
    for (const { reject } of waiting.values()) reject(new Error(`a viewer of ${path} was disconnected`));
  };
  const request = get(url + path, { agent: false, headers: { accept: "text/event-stream" } }, (response) => {
    response.setEncoding("utf8");
    response.on("close", fail);
    response.on("data", (chunk: string) => {
      last = last.slice(-100) + chunk;
      for (const [text, { resolve }] of waiting) if (last.includes(text)) resolve();
    });
  });
  request.on("error", fail);
  return {
    waitFor: (text) => {
      const wait = Promise.withResolvers<void>();
      if (last.includes(text)) wait.resolve();
      else waiting.set(text, wait);
      return wait.promise;
    },
    stop: () => {
      waiting.clear();
      request.destroy();
    },
  };
}

/** Measures how long a change of a lock takes from the answer of etcd to a viewer, ms. */
async function measureDelays({ store, quick }: BenchCluster, viewer: Viewer): Promise<number[]> {
  const key = createKeys("/signalbox/").drain("lock", "lock-1");
  const delays: number[] = [];
  for (let turn = 0; turn < (quick ? 5 : 40); turn += 1) {
    const by = `turn${turn}-${process.pid}`;
    const shown = viewer.waitFor(by);
    const value = serializeDrain({ by, at: Date.now() });
    await store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
    const start = performance.now();
    await shown;
    delays.push(performance.now() - start);
    await pause(20 + ((turn * 37) % 200)); // not in step with the page
  }
  await store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
  return delays;
}
