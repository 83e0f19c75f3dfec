/** A worker of the library needs no more memory after 20,000 tasks than after the first 5,000. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/etcd/memory/memory-store.ts";
import { LibraryConnection } from "../../../src/library/connection.ts";
import { Worker } from "../../../src/library/index.ts";
import { createSignalbox } from "../../../src/library/signalbox.ts";
import { createRealClock } from "../../../src/process/clock.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const TASKS = 20_000;
const SCHEDULES = 20;
/** Bytes for each task. A signal that stays, with its listener, needs 1,000 or more; collections differ by 150 to 300. */
const LIMIT = 500;

test("the heap stays flat", async () => {
  const clock = createRealClock();
  const store = MemoryStore.create(clock);
  const box = createSignalbox(LibraryConnection.openWith({ clock, store }, {}));
  const measureHeap = () => {
    store.etcd.compact(store.etcd.revision);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const end = Promise.withResolvers<number>();
  let [count, before] = [0, 0];
  const handle = () => {
    count += 1;
    if (count === TASKS / 4) before = measureHeap();
    if (count === TASKS) end.resolve(measureHeap());
  };
  const start = (Math.floor(Date.now() / 60_000) - TASKS / SCHEDULES) * 60_000;
  for (
    let n = 0;
    n < SCHEDULES;
    n += 1 // missed runs are made up one by one; two schedules need leases
  )
    await box.schedules.add(`tick.${n}`, { cron: "* * * * *", start, leases: n < 2 ? ["db=1:2"] : [] });
  const worker = new Worker(box, { handlers: { tick: handle } });
  const running = worker.run();
  const growth = (await end.promise) - before;
  await worker.close();
  await running;
  await box.close();
  expect(growth / (0.75 * TASKS)).toBeLessThan(LIMIT);
});
