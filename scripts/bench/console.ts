import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../fixtures/console.ts";
import { prefixRange } from "../../src/etcd/store.ts";
import type { Bed } from "./bed.ts";
import { startLoad } from "./console-load.ts";
import { median, note, quantile, shown, table } from "./figures.ts";
import { fill } from "./scale.ts";

const COLUMNS = 160;
const ROWS = 50;

/** The console where there is much to see: 10,000 locks, each held and with ten waiters. */
export async function consoleFigures(bed: Bed): Promise<void> {
  const locks = bed.quick ? 1_000 : 10_000;
  await fill(bed.store, locks);
  const starts = await startTimes(bed, bed.quick ? 3 : 5);
  const terminal = await opened(bed);
  try {
    const [first] = memoryOf(terminal.pid);
    const still = await watched(terminal, locks, 0, bed);
    const busy = await watched(terminal, locks, 100, bed);
    const flood = await watched(terminal, locks, 2_000, bed);
    const [rss, peak] = memoryOf(terminal.pid);
    const rows = [
      ["start to first complete paint, s", ...spread(starts, 2)],
      ["key to paint, idle, ms", ...spread(still.keys)],
      ["key to paint, 100 events/s, ms", ...spread(busy.keys)],
      ["key to paint, 2,000 events/s, ms", ...spread(flood.keys)],
      ["behind etcd, 100 events/s, ms", ...spread(busy.lags)],
      ["behind etcd, 2,000 events/s, ms", ...spread(flood.lags)],
    ];
    table(`The console at ${locks} locks with ${10 * locks} waiters`, ["", "p50", "p95", "most"], rows);
    table(
      "What it writes and takes",
      ["", ""],
      [
        ["bytes a second, idle", shown(still.bytes, 0)],
        ["bytes a second, 100 events/s", shown(busy.bytes, 0)],
        ["bytes a second, 2,000 events/s", shown(flood.bytes, 0)],
        ["events a second that were written", shown(flood.events, 0)],
        ["to catch up when they end, ms", shown(flood.catchUp, 0)],
        ["processor, idle, %", shown(still.processor, 0)],
        ["processor, 2,000 events/s, %", shown(flood.processor, 0)],
        ["resident after the start, MiB", shown(first, 0)],
        ["resident after all that, MiB", shown(rss, 0)],
        ["resident at most, MiB", shown(peak, 0)],
      ],
    );
    note(
      `in a pseudo-terminal of ${COLUMNS}x${ROWS}; paint: when the emulator shows it, its own 1 to 2 ms included`,
    );
    note(
      "behind: how long the first revision that is not yet shown has been in etcd, looked at four times a second",
    );
  } finally {
    await terminal.close();
  }
}

const spread = (values: readonly number[], places = 1) =>
  [median(values), quantile(values, 0.95), quantile(values, 1)].map((value) => shown(value, places));

async function opened(bed: Bed): Promise<Terminal> {
  const terminal = openTerminal({
    args: ["console"],
    columns: COLUMNS,
    rows: ROWS,
    endpoints: bed.etcd.endpoints,
  });
  await terminal.until(/live rev \d/, 60_000);
  return terminal;
}

async function startTimes(bed: Bed, times: number): Promise<number[]> {
  const seconds: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const start = performance.now();
    const terminal = await opened(bed);
    seconds.push((performance.now() - start) / 1000);
    terminal.kill("SIGTERM");
    await terminal.ended;
    await terminal.close();
  }
  return seconds;
}

interface Watched {
  /** Key to paint, and how far what is shown was behind; ms. */
  keys: number[];
  lags: number[];
  /** Written to the terminal while nobody presses a key, a second. */
  bytes: number;
  /** Written to etcd, a second. */
  events: number;
  /** After the last event, ms. */
  catchUp: number;
  /** Of one processor, while nobody presses a key. */
  processor: number;
}

/** Looks at the console for some seconds, and then presses keys, while so many events a second come. */
async function watched(terminal: Terminal, locks: number, perSecond: number, bed: Bed): Promise<Watched> {
  const seconds = bed.quick ? 3 : 10;
  const load = perSecond === 0 ? undefined : await startLoad(bed.store, locks, perSecond);
  await pause(1_000); // what was pressed and written before has been painted
  const start = {
    at: performance.now(),
    bytes: terminal.bytes,
    cpu: processorTime(terminal.pid),
    events: load?.events ?? 0,
  };
  const lags = await lagsOf(terminal, load?.writtenAt, seconds * 1000);
  const took = (performance.now() - start.at) / 1000;
  const bytes = (terminal.bytes - start.bytes) / took;
  const processor = (processorTime(terminal.pid) - start.cpu) / took / 10;
  const events = ((load?.events ?? 0) - start.events) / took;
  const keys = await keyTimes(terminal, bed.quick ? 20 : 100);
  await load?.stop();
  const { revision } = await bed.store.range({ ...prefixRange("/signalbox/"), limit: 1 });
  const end = performance.now();
  await terminal.until(`live rev ${revision}`, 60_000);
  return { keys, lags, bytes, events, catchUp: performance.now() - end, processor };
}

async function lagsOf(
  terminal: Terminal,
  writtenAt: Map<bigint, number> | undefined,
  ms: number,
): Promise<number[]> {
  const lags: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await pause(250)) {
    const missing = writtenAt?.get(revisionShown(terminal) + 1n);
    if (writtenAt !== undefined) lags.push(missing === undefined ? 0 : performance.now() - missing);
  }
  return lags;
}

/** @throws Error when the console says that it is not live */
function revisionShown(terminal: Terminal): bigint {
  const status = terminal.screen().at(-1) ?? "";
  const revision = /live rev (\d+)/.exec(status)?.[1];
  if (revision === undefined) throw new Error(`not live: ${status}`);
  return BigInt(revision);
}

/** From a press of `down` until the next lock is shown in the detail, ms. */
async function keyTimes(terminal: Terminal, presses: number): Promise<number[]> {
  const times: number[] = [];
  for (let press = 0; press < presses; press += 1) {
    await pause(20 + ((press * 37) % 80)); // as people do: out of step with the console's own clock
    const before = subjectOf(terminal);
    const start = performance.now();
    terminal.press("down");
    await terminal.until(() => subjectOf(terminal) !== before);
    times.push(performance.now() - start);
  }
  return times;
}

function subjectOf(terminal: Terminal): string | undefined {
  return /lock (\S+): held/.exec(terminal.screen().join("\n"))?.[1];
}

/** User and system time of a process so far, ms. @see proc_pid_stat(5) */
function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident now, and at most so far; MiB. */
function memoryOf(pid: number): [now: number, most: number] {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) / 1024;
  return [field("VmRSS"), field("VmHWM")];
}
