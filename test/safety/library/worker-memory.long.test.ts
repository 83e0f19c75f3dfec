/** A worker of the library needs no more memory after 20,000 tasks than after the first 5,000. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { estimateSlope } from "../../../fixtures/estimate-slope.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { LibraryConnection } from "../../../src/library/connection.ts";
import { Worker } from "../../../src/library/index.ts";
import { SignalboxImpl } from "../../../src/library/signalbox.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const TASKS = 20_000;
const SCHEDULES = 20;
/** The heap is measured each time that so many tasks have ended, after the first quarter. */
const STEP = 1_000;
/**
 * Bytes for each task. A signal that stays, with its listener, needs 9,400. A snapshot after 5,000 tasks and one after 20,000 differ by
 * 25, all of it compiled code, but single measurements differ by megabytes, because V8 drops and compiles code at times.
 */
const LIMIT = 500;

test("the heap stays flat", async () => {
  const clock = createRealClock();
  const store = MemoryStore.create(clock);
  const box = new SignalboxImpl(LibraryConnection.openWith({ clock, store }, {}));
  const measureHeap = () => {
    store.etcd.compact(store.etcd.revision);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const end = Promise.withResolvers<void>();
  const measured: [count: number, heap: number][] = [];
  let count = 0;
  const handle = () => {
    count += 1;
    if (count >= TASKS / 4 && count % STEP === 0) measured.push([count, measureHeap()]);
    if (count === TASKS) end.resolve();
  };
  const start = (Math.floor(Date.now() / 60_000) - TASKS / SCHEDULES) * 60_000;
  for (
    let n = 0;
    n < SCHEDULES;
    n += 1 // missed runs are made up one by one; two schedules need leases
  )
    await box.schedules.add(`tick.${n}`, {
      cron: "* * * * *",
      start,
      catchup: "all",
      leases: n < 2 ? ["db=1:2"] : [],
    });
  const worker = new Worker(box, { handlers: { tick: handle } });
  const running = worker.run();
  await end.promise;
  await worker.close();
  await running;
  await box.close();
  expect(measured).toHaveLength((0.75 * TASKS) / STEP + 1);
  expect(estimateSlope(measured)).toBeLessThan(LIMIT);
});
