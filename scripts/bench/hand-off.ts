import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Argv, Bed } from "./bed.ts";
import { mean, note, quantile, shown, table } from "./figures.ts";

/** Waiters that are started at once, so that a small machine is not swamped. */
const AT_ONCE = 10;
/** What a waiting process may take, in bytes: with less free memory than that for each, a size is left out. */
const ROOM = 40 * 1024 * 1024;
const LOCK = "bench-hand-off";

interface Series {
  /** From the end of one command to the start of the next, ms. */
  gaps: number[];
  /** Events that etcd sent to its watchers, for each hand-off. */
  events: number;
}

interface Contender {
  what: string;
  /** Waits for the lock, then runs the command. */
  waits(command: string[]): Argv;
  /** Where its queue is. */
  prefix: string;
}

/** How soon the next in a queue starts once the lock is free, and whether that grows with the queue. */
export async function handOff(bed: Bed): Promise<void> {
  const contenders: Contender[] = [
    {
      what: "run --wait",
      waits: (command) => bed.signalbox("run", "--wait", "--lock", LOCK, "--", ...command),
      prefix: `/signalbox/locks/${LOCK}/`,
    },
    { what: "etcdctl lock", waits: (command) => bed.etcdctlLock(LOCK, ...command), prefix: `${LOCK}/` },
  ];
  const rows: string[][] = [];
  for (const waiters of bed.quick ? [2, 10] : [2, 10, 50, 200]) {
    for (const contender of contenders) {
      if (freemem() < waiters * ROOM) continue;
      // A short queue gives few gaps: it is made again until there are enough.
      const series: Series[] = [];
      while (series.flatMap(({ gaps }) => gaps).length < (bed.quick ? 4 : 30))
        series.push(await oneQueue(bed, contender, waiters));
      rows.push(row(contender.what, waiters, series));
    }
  }
  const head = ["", "waiters", "p50 ms", "p95", "max", "hand-offs", "watch events each"];
  table("Hand-off: from the end of one command to the start of the next", head, rows);
  note("start of a shell and of date(1) included, alike for all");
}

function row(what: string, waiters: number, series: readonly Series[]): string[] {
  const gaps = series.flatMap((one) => one.gaps);
  const quantiles = [0.5, 0.95, 1].map((part) => shown(quantile(gaps, part)));
  const events = mean(series.map((one) => one.events));
  return [what, String(waiters), ...quantiles, String(gaps.length), shown(events, 2)];
}

/** One holder, and a queue of waiters behind it. All wait before the holder ends. */
async function oneQueue(bed: Bed, { waits, prefix }: Contender, waiters: number): Promise<Series> {
  const stamps = join(bed.folder, `stamps-${Math.random()}`);
  const go = `${stamps}.go`;
  const stamp = `date +%s%N >> '${stamps}'`;
  const holder = start(waits(["sh", "-c", `until [ -e '${go}' ]; do sleep 0.05; done; ${stamp}`]), bed);
  const queue: ChildProcess[] = [];
  try {
    await queued(bed, prefix, 1);
    while (queue.length < waiters) {
      const more = Math.min(AT_ONCE, waiters - queue.length);
      for (let i = 0; i < more; i += 1) queue.push(start(waits(["sh", "-c", `${stamp}; ${stamp}`]), bed));
      await queued(bed, prefix, queue.length + 1);
    }
    await pause(500); // those who came last open their watches
    const before = await watchEvents(bed);
    writeFileSync(go, "");
    await Promise.all([holder, ...queue].map(ended));
    const events = ((await watchEvents(bed)) - before) / waiters;
    return { gaps: gapsIn(readFileSync(stamps, "utf8")), events };
  } finally {
    if (!existsSync(go)) for (const child of [holder, ...queue]) child.kill("SIGKILL");
  }
}

function start([file, ...args]: Argv, { env }: Bed): ChildProcess {
  return spawn(file, args, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.exitCode !== 0) throw new Error(`a waiter ended with ${child.signalCode ?? child.exitCode}`);
}

async function queued(bed: Bed, prefix: string, wanted: number): Promise<void> {
  while ((await bed.count(prefix)) < wanted) await pause(20);
}

/** Stamps in ns: the holder's end, then start and end of each that came after it. */
function gapsIn(text: string): number[] {
  const stamps = text.trim().split("\n").map(BigInt);
  return stamps.flatMap((end, at) => {
    const next = stamps[at + 1];
    return at % 2 === 0 && next !== undefined ? [Number(next - end) / 1e6] : [];
  });
}

/** Events that etcd has sent to watchers so far, by its own count. */
async function watchEvents({ etcd }: Bed): Promise<number> {
  const text = await (await fetch(`${etcd.clientUrl}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_events_total (\S+)$/m.exec(text)?.[1]);
}
