import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../src/core/etcd/store.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { serializeTicket } from "../../src/core/protocol/ticket.ts";
import type { Op } from "../../src/core/protocol/txn.ts";
import type { Argv, BenchCluster } from "./bench-cluster.ts";
import { formatNumber, printNote, printTable } from "./figures.ts";

const WAITERS = 10;
/** Operations per transaction. etcd accepts at most 128. */
const BATCH = 120;
/** Number of concurrent transactions. */
const AT_ONCE = 16;
/** The session of all locks that `fillLocks` writes. */
export const LOCK_SESSION = 77n;

/** Measures listings with 10,000 locks, each held and with ten waiters. */
export async function benchmarkScale(cluster: BenchCluster): Promise<void> {
  const locks = cluster.quick ? 1_000 : 10_000;
  await fillLocks(cluster.store, locks);
  const rows: string[][] = [];
  for (const args of [
    ["ls", "--json"],
    ["ls"],
    ["ls", "queues", "--json"],
    ["ls", "runs", "--json"],
    ["ls", "problems", "--json"],
    ["ls", "locks", "--json", "--limit", "10"],
    ["ls", "locks", "lock-77"],
  ]) {
    const { seconds, peak, bytes } = await runListing(cluster.buildSignalboxArgv(...args), cluster.env);
    rows.push([args.join(" "), formatNumber(seconds, 2), formatNumber(peak, 0), formatNumber(bytes / 1e6)]);
  }
  printTable(
    `Listings of ${locks} locks with ${locks * WAITERS} waiters`,
    ["", "s", "peak MiB", "MB out"],
    rows,
  );
  printNote(
    "peak: peak resident memory, including 45 MiB of Node itself; s: from start to end of the process",
  );
}

/** Writes locks, each with a holder and waiters. @param from  the number of locks that are there */
export async function fillLocks(store: Store, locks: number, from = 0): Promise<void> {
  if (from === 0) await store.grant(LOCK_SESSION, 3_600);
  else await store.renew(LOCK_SESSION);
  const puts = (function* () {
    for (let lock = from; lock < locks; lock += 1)
      for (let place = 0; place <= WAITERS; place += 1) yield createTicket(lock, place);
  })();
  const fillBatches = async () => {
    for (let batch = takeBatch(puts); batch.length > 0; batch = takeBatch(puts))
      await store.commitTxn({ compare: [], success: batch, failure: [] });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fillBatches));
}

function takeBatch(puts: Iterator<Op>): Op[] {
  const batch: Op[] = [];
  while (batch.length < BATCH) {
    const next = puts.next();
    if (next.done === true) break;
    batch.push(next.value);
  }
  return batch;
}

function createTicket(lock: number, place: number): Op {
  const run = (lock * (WAITERS + 1) + place).toString(36).padStart(13, "0");
  const at = Date.now();
  const value = serializeTicket({
    run,
    host: `web${place}.example.com`,
    pid: 1000 + place,
    user: "ops",
    count: 1,
    total: 1,
    command: "invoices.sh",
    enqueuedAt: at,
    state: place === 0 ? "held" : "waiting",
    ...(place === 0 && { grantedAt: at }),
  });
  return {
    op: "put",
    key: createKeys("/signalbox/").lock(`lock-${lock}`, run),
    session: LOCK_SESSION,
    value,
  };
}

/** Runs a listing, and reads its output through a pipe. */
async function runListing([file, ...args]: Argv, env: NodeJS.ProcessEnv) {
  const start = performance.now();
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  let peak = 0;
  const over = once(child, "close");
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  while (!isOver) {
    peak = Math.max(peak, readPeakMemory(child.pid));
    await pause(5);
  }
  const [code] = await over;
  if (code !== 0) throw new Error(`${args.join(" ")}: exit code ${code}`);
  return { seconds: (performance.now() - start) / 1000, peak, bytes };
}

/** Reads the peak resident memory of a process, MiB; 0 if it has ended. */
function readPeakMemory(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
