/** A worker process whose tasks do nothing. It reports to its parent when it has joined, and which tasks it has started. */

import {
  computeLateness,
  createSteppedClock,
  type WallSteps,
} from "../../fixtures/schedule/stepped-clock.ts";
import { silentLog } from "../../src/core/base/log.ts";
import { openStore } from "../../src/core/etcd/open.ts";
import { createRealClock } from "../../src/core/process/clock.ts";
import { realRandom } from "../../src/core/process/random.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { ScheduleWorker } from "../../src/worker/engine/schedule-worker.ts";
import { listenForEnd, reportJoined, reportStarted } from "./start-report.ts";

const [endpoint = "", prefix = "", wallSteps] = process.argv.slice(2);
const real = createRealClock();
const steps: WallSteps | undefined = wallSteps === undefined ? undefined : JSON.parse(wallSteps);
const clock = steps === undefined ? real : createSteppedClock(real, steps);
const NO_LIMITS = { warns: Number.POSITIVE_INFINITY, refuses: Number.POSITIVE_INFINITY };

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
      measure: () => undefined,
      terminationTimeout: 5_000,
      ...(steps !== undefined && { clockOffset: () => 0, clockLimits: NO_LIMITS }), // each step is a jump
      handlers: { types: ["$command"], find: () => ({ run: async () => ({ result: "ok" }) }) },
      listener: (event) => {
        if (event.kind === "joined") reportJoined();
        if (event.kind === "started")
          reportStarted(
            steps === undefined ? event.late : computeLateness(steps, event.scheduled, Date.now()),
          );
      },
    },
  );
  await engine.run(listenForEnd());
  store.close();
}

void main();
