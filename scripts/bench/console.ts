import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../fixtures/console.ts";
import { LAUNCHER } from "../../fixtures/signalbox.ts";
import { buildPrefixRange } from "../../src/core/protocol/txn.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { startLoad } from "./console-load.ts";
import { computeMedian, computeQuantile, formatNumber, printNote, printTable } from "./figures.ts";
import { readProcessorTime } from "./measure.ts";
import { fillLocks } from "./scale.ts";

const COLUMNS = 160;
const ROWS = 50;

/** Measures the console with 10,000 locks, each held and with ten waiters. */
export async function benchmarkConsole(cluster: BenchCluster): Promise<void> {
  const locks = cluster.quick ? 1_000 : 10_000;
  await compareSmallStart(cluster, cluster.quick ? 5 : 15);
  await fillLocks(cluster.store, locks);
  const starts = await measureStartTimes(cluster, cluster.quick ? 3 : 5);
  const terminal = await openLoadedConsole(cluster);
  try {
    const [first] = readResidentMemory(terminal.pid);
    const still = await watchConsole(terminal, locks, 0, cluster);
    const busy = await watchConsole(terminal, locks, 100, cluster);
    const flood = await watchConsole(terminal, locks, 2_000, cluster);
    const [rss, peak] = readResidentMemory(terminal.pid);
    const rows = [
      ["start to first complete paint, s", ...formatSpread(starts, 2)],
      ["key to paint, idle, ms", ...formatSpread(still.keys)],
      ["key to paint, 100 events/s, ms", ...formatSpread(busy.keys)],
      ["key to paint, 2,000 events/s, ms", ...formatSpread(flood.keys)],
      ["behind etcd, 100 events/s, ms", ...formatSpread(busy.lags)],
      ["behind etcd, 2,000 events/s, ms", ...formatSpread(flood.lags)],
    ];
    printTable(`The console at ${locks} locks with ${10 * locks} waiters`, ["", "p50", "p95", "most"], rows);
    printTable(
      "Output and resource use of the console",
      ["", ""],
      [
        ["bytes per second, idle", formatNumber(still.bytes, 0)],
        ["bytes per second, 100 events/s", formatNumber(busy.bytes, 0)],
        ["bytes per second, 2,000 events/s", formatNumber(flood.bytes, 0)],
        ["events written per second", formatNumber(flood.events, 0)],
        ["time to catch up after the last event, ms", formatNumber(flood.catchUp, 0)],
        ["processor, idle, %", formatNumber(still.processor, 0)],
        ["processor, 2,000 events/s, %", formatNumber(flood.processor, 0)],
        ["resident memory after the start, MiB", formatNumber(first, 0)],
        ["resident memory at the end, MiB", formatNumber(rss, 0)],
        ["peak resident memory, MiB", formatNumber(peak, 0)],
      ],
    );
    printNote(
      `in a pseudo-terminal of ${COLUMNS}x${ROWS}; paint: when the emulator shows it, which takes 1 to 2 ms itself`,
    );
    printNote("behind: age of the first revision that is not shown yet, measured four times per second");
  } finally {
    await terminal.close();
  }
}

const formatSpread = (values: readonly number[], places = 1) =>
  [computeMedian(values), computeQuantile(values, 0.95), computeQuantile(values, 1)].map((value) =>
    formatNumber(value, places),
  );

/** Starts the console as users do. */
export async function openLoadedConsole(cluster: BenchCluster): Promise<Terminal> {
  const terminal = openTerminal({
    command: [LAUNCHER, "console", "--view", "locks"],
    columns: COLUMNS,
    rows: ROWS,
    endpoints: cluster.etcd.endpoints,
    env: { XDG_CACHE_HOME: cluster.folder }, // a user has started it before
  });
  await terminal.waitFor(/live rev \d/, 60_000);
  return terminal;
}

async function measureStartTimes(cluster: BenchCluster, times: number): Promise<number[]> {
  const seconds: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const start = performance.now();
    const terminal = await openLoadedConsole(cluster);
    seconds.push((performance.now() - start) / 1000);
    terminal.kill("SIGTERM");
    await terminal.ended;
    await terminal.close();
  }
  return seconds;
}

/** Compares the start of the console with that of `ls`, alternately, before there is anything to read. */
async function compareSmallStart(cluster: BenchCluster, times: number): Promise<void> {
  const [firstEver = Number.NaN] = await measureStartTimes(cluster, 1);
  const seconds: { ls: number; console: number }[] = [];
  for (let time = 0; time < times; time += 1) {
    const start = performance.now();
    spawnSync(LAUNCHER, ["ls"], { env: cluster.env });
    const ls = (performance.now() - start) / 1_000;
    const [console = Number.NaN] = await measureStartTimes(cluster, 1);
    seconds.push({ ls, console });
  }
  const rows = (["ls", "console"] as const).map((name) => [
    name,
    ...formatSpread(
      seconds.map((one) => one[name]),
      2,
    ),
  ]);
  const ratio = computeMedian(seconds.map((one) => one.console / one.ls));
  printTable("Start on a site without locks, s", ["", "p50", "p95", "most"], rows);
  printNote(`the console takes ${formatNumber(ratio, 2)} times as long as ls (median of ${times} pairs)`);
  printNote(`its first start on this machine, without V8's code: ${formatNumber(firstEver, 2)} s`);
}

interface WatchFigures {
  /** Times from a key to the repaint (`keys`), and delays of the screen behind etcd (`lags`); ms. */
  keys: number[];
  lags: number[];
  /** Bytes written to the terminal per second without key presses. */
  bytes: number;
  /** Events written to etcd per second. */
  events: number;
  /** Time from the last event until the screen is up to date, ms. */
  catchUp: number;
  /** Share of one processor without key presses. */
  processor: number;
}

/** Observes the console for some seconds, then presses keys, under a load. @param perSecond  events per second */
async function watchConsole(
  terminal: Terminal,
  locks: number,
  perSecond: number,
  cluster: BenchCluster,
): Promise<WatchFigures> {
  const seconds = cluster.quick ? 3 : 10;
  const load = perSecond === 0 ? undefined : await startLoad(cluster.store, locks, perSecond);
  await pause(1_000); // earlier keys and events must be painted first
  const start = {
    at: performance.now(),
    bytes: terminal.bytes,
    cpu: readProcessorTime(terminal.pid),
    events: load?.events ?? 0,
  };
  const lags = await measureLags(terminal, load?.writtenAt, seconds * 1000);
  const took = (performance.now() - start.at) / 1000;
  const bytes = (terminal.bytes - start.bytes) / took;
  const processor = (readProcessorTime(terminal.pid) - start.cpu) / took / 10;
  const events = ((load?.events ?? 0) - start.events) / took;
  const keys = await measureKeyTimes(terminal, cluster.quick ? 20 : 100);
  await load?.stop();
  const { revision } = await cluster.store.readRange({ ...buildPrefixRange("/signalbox/"), limit: 1 });
  const end = performance.now();
  await terminal.waitFor(`live rev ${revision}`, 60_000);
  return { keys, lags, bytes, events, catchUp: performance.now() - end, processor };
}

async function measureLags(
  terminal: Terminal,
  writtenAt: Map<bigint, number> | undefined,
  ms: number,
): Promise<number[]> {
  const lags: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await pause(250)) {
    const missing = writtenAt?.get(readShownRevision(terminal) + 1n);
    if (writtenAt !== undefined) lags.push(missing === undefined ? 0 : performance.now() - missing);
  }
  return lags;
}

/** Returns the revision that the console shows. @throws Error if the console is not live */
function readShownRevision(terminal: Terminal): bigint {
  const status = terminal.getScreen().at(-1) ?? "";
  const revision = /live rev (\d+)/.exec(status)?.[1];
  if (revision === undefined) throw new Error(`not live: ${status}`);
  return BigInt(revision);
}

/** Measures the time from a press of `down` until the detail shows the next lock, ms. */
async function measureKeyTimes(terminal: Terminal, presses: number): Promise<number[]> {
  const times: number[] = [];
  for (let press = 0; press < presses; press += 1) {
    await pause(20 + ((press * 37) % 80)); // not in step with the console's timers
    const before = readSubject(terminal);
    const start = performance.now();
    terminal.press("down");
    await terminal.waitFor(() => readSubject(terminal) !== before);
    times.push(performance.now() - start);
  }
  return times;
}

function readSubject(terminal: Terminal): string | undefined {
  return /lock (\S+): held/.exec(terminal.getScreen().join("\n"))?.[1];
}

/** Reads the current and the peak resident memory, MiB. */
export function readResidentMemory(pid: number): [now: number, most: number] {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const readField = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) / 1024;
  return [readField("VmRSS"), readField("VmHWM")];
}
