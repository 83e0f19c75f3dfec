/** A worker process whose tasks do nothing. It reports to its parent when it has joined, and which tasks it has started. */

import {
  computeLateness,
  createSteppedClock,
  type WallSteps,
} from "../../fixtures/schedule/stepped-clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { openStore } from "../../src/etcd/open/open.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { realRandom } from "../../src/process/random.ts";
import { createKeys } from "../../src/protocol/keys.ts";
import { ScheduleWorker } from "../../src/worker/engine/schedule-worker.ts";

/** A message to the parent. `late`: delays of all starts since the last message, ms. */
export type WorkerMessage =
  | { kind: "joined"; ms: number; rss: number; cpu: number }
  | { kind: "started"; late: number[]; rss: number };

const [endpoint = "", prefix = "", wallSteps] = process.argv.slice(2);
const began = performance.now();
const real = createRealClock();
const steps: WallSteps | undefined = wallSteps === undefined ? undefined : JSON.parse(wallSteps);
const clock = steps === undefined ? real : createSteppedClock(real, steps);
const NO_LIMITS = { warns: Number.POSITIVE_INFINITY, refuses: Number.POSITIVE_INFINITY };
let late: number[] = [];

async function main(): Promise<void> {
  const store = await openStore({ endpoints: [endpoint], prefersGrpc: true }, { clock });
  const engine = new ScheduleWorker(
    {
      store,
      keys: createKeys(prefix),
      clock,
      random: realRandom,
      log: silentLog,
      settings: { connectTimeout: 30_000 },
    },
    {
      host: `host${process.pid}`,
      pid: process.pid,
      version: "0",
      tags: [],
      ttl: 30,
      concurrency: 64,
      terminationTimeout: 5_000,
      ...(steps !== undefined && { clockOffset: () => 0, clockLimits: NO_LIMITS }), // each step is a jump
      handlers: { types: ["$command"], find: () => ({ run: async () => ({ result: "ok" }) }) },
      listener: (event) => {
        if (event.kind === "joined")
          sendMessage({ kind: "joined", ms: performance.now() - began, rss: readRss(), cpu: readCpu() });
        if (event.kind === "started")
          late.push(steps === undefined ? event.late : computeLateness(steps, event.scheduled, Date.now()));
      },
    },
  );
  setInterval(() => {
    if (late.length > 0) sendMessage({ kind: "started", late, rss: readRss() });
    late = [];
  }, 250).unref();
  const stop = new AbortController();
  process.on("disconnect", () => stop.abort(new Error("the parent has exited")));
  await engine.run(stop.signal);
  store.close();
}

function sendMessage(word: WorkerMessage): void {
  if (process.connected) process.send?.(word); // the benchmark may have ended
}

function readRss(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** Reads the user and system time so far, ms. */
function readCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

void main();
