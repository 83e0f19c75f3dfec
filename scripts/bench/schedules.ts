import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import type { Op, Store } from "../../src/etcd/store.ts";
import { keysUnder } from "../../src/protocol/keys.ts";
import { definitionText } from "../../src/schedule/definition.ts";
import { dueText } from "../../src/schedule/due.ts";
import type { Bed } from "./bed.ts";
import { note, quantile, shown, table } from "./figures.ts";
import { raftIndex } from "./proposals.ts";
import type { Word } from "./schedule-worker.ts";

const PREFIX = "/signalbox/";
const WORKERS = 4;
/** etcd takes 128 in a transaction. */
const BATCH = 120;
const AT_ONCE = 8;
/** How long etcd is watched while nothing is due, ms. */
const IDLE = 10_000;

/** What schedules cost: 100,000 of them, of which 10,000 are due in one minute, and four workers. */
export async function schedules(bed: Bed): Promise<void> {
  const all = bed.quick ? 10_000 : 100_000;
  const burst = all / 10;
  await fill(bed.store, all, undefined);
  const script = await bundled(bed.folder);
  const workers = Array.from({ length: WORKERS }, () => new Watched(script, bed.etcd.clientUrl));
  try {
    await Promise.all(workers.map((worker) => worker.joined));
    const joined = await Promise.all(workers.map((worker) => worker.joined));
    const idle = await traffic(bed, IDLE);
    const before = await raftIndex(bed);
    const due = Date.now() + 3_000;
    await fill(bed.store, burst, due);
    const fillCost = BigInt(Math.ceil((2 * burst) / BATCH));
    while (workers.reduce((sum, { late }) => sum + late.length, 0) < burst) await pause(100);
    await pause(2_000); // until the last is settled
    const proposals = Number((await raftIndex(bed)) - before - fillCost);
    const late = workers.flatMap((worker) => worker.late);
    tell({ all, burst, joined, idle, late, proposals, workers });
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** As it would be shipped: what Node needs to read TypeScript is twice as large as the worker. */
async function bundled(folder: string): Promise<string> {
  const outfile = join(folder, "schedule-worker.cjs");
  await build({
    entryPoints: [join(import.meta.dirname, "schedule-worker.ts")],
    ...{ outfile, bundle: true, platform: "node", format: "cjs", target: "node22", logLevel: "warning" },
    external: ["etcd3"],
  });
  return outfile;
}

interface Figures {
  all: number;
  burst: number;
  joined: Extract<Word, { kind: "joined" }>[];
  idle: { entries: number; sent: number; received: number };
  late: number[];
  proposals: number;
  workers: Watched[];
}

function tell({ all, burst, joined, idle, late, proposals, workers }: Figures): void {
  const most = (pick: (word: (typeof joined)[number]) => number) => Math.max(...joined.map(pick));
  table(
    `${all} schedules, ${WORKERS} workers that start together`,
    ["", "most"],
    [
      ["start until it takes what is due, s", shown(most(({ ms }) => ms) / 1_000, 2)],
      ["processor time until then, s", shown(most(({ cpu }) => cpu) / 1_000, 2)],
      [
        "resident then, MiB",
        shown(
          most(({ rss }) => rss),
          0,
        ),
      ],
      ["resident at most, MiB", shown(Math.max(...workers.map(({ rss }) => rss)), 0)],
    ],
  );
  table(
    `Nothing is due for ${IDLE / 1_000} s: etcd, a second`,
    ["", ""],
    [
      ["raft entries", shown(idle.entries)],
      ["bytes to clients", shown(idle.sent, 0)],
      ["bytes from clients", shown(idle.received, 0)],
    ],
  );
  const part = (share: number) => shown(quantile(late, share) / 1_000, 2);
  table(
    `${burst} due at one instant`,
    ["", "p50", "p95", "p99", "most"],
    [["lateness, s", part(0.5), part(0.95), part(0.99), part(1)]],
  );
  note(`raft entries a firing: ${shown(proposals / late.length, 3)}; started: ${late.length}`);
  note("The tasks do nothing; workers, etcd and what measures share this machine's processors.");
}

/** Raft entries, and bytes of clients, a second. */
async function traffic(bed: Bed, ms: number): Promise<Figures["idle"]> {
  const look = async () => ({ entries: Number(await raftIndex(bed)), ...(await bytes(bed.etcd.clientUrl)) });
  const before = await look();
  await pause(ms);
  const after = await look();
  const rate = (key: "entries" | "sent" | "received") => (after[key] - before[key]) / (ms / 1_000);
  return { entries: rate("entries"), sent: rate("sent"), received: rate("received") };
}

async function bytes(url: string): Promise<{ sent: number; received: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    sent: value("etcd_network_client_grpc_sent_bytes_total"),
    received: value("etcd_network_client_grpc_received_bytes_total"),
  };
}

/** @param due  when all of them are due, ms since the epoch; undefined: in half a year */
async function fill(store: Store, count: number, due: number | undefined): Promise<void> {
  const keys = keysUnder(PREFIX);
  const month = new Date(Date.now() + 180 * 86_400_000).getUTCMonth() + 1;
  const definition = definitionText({ cron: `15 3 1 ${month} *`, timezone: "UTC", command: ["./report.sh"] });
  const runAt = due ?? Date.now() + 180 * 86_400_000;
  const state = dueText({ next: runAt, runAt, open: [] });
  const ops = Array.from({ length: count }, (_, n) => `${due === undefined ? "later" : "now"}.${n}`).flatMap(
    (id): Op[] => [
      { op: "put", key: keys.schedule(id), value: definition },
      { op: "put", key: keys.due(id), value: state },
    ],
  );
  let at = 0;
  const work = async () => {
    while (at < ops.length) {
      const batch = ops.slice(at, at + BATCH);
      at += BATCH;
      await store.txn({ compare: [], success: batch, failure: [] });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** A worker process, and what it has told. */
class Watched {
  readonly joined: Promise<Extract<Word, { kind: "joined" }>>;
  readonly late: number[] = [];
  rss = 0;
  readonly #child: ChildProcess;

  constructor(script: string, endpoint: string) {
    this.#child = fork(script, [endpoint, PREFIX]);
    this.joined = new Promise((resolve, reject) => {
      this.#child.on("message", (word: Word) => {
        this.rss = Math.max(this.rss, word.rss);
        if (word.kind === "joined") resolve(word);
        else this.late.push(...word.late);
      });
      this.#child.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.disconnect();
    await ended;
  }
}
