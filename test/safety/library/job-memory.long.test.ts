/** A program that adds and does 100,000 jobs needs no more memory after them than after the first fifth. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { estimateSlope } from "../../../fixtures/estimate-slope.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { Worker } from "../../../src/library/index.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const { test } = TestCluster.startForFile();

const JOBS = 100_000;
const BATCH = 1_000;
/** Of each batch, so many have a key and a result that is waited for. */
const AWAITED = 10;
/** Bytes for each job. One that stays in the cache of a worker needs more than 1,000. */
const LIMIT = 50;

test("the heap stays flat over 100,000 jobs", async ({ namespace }) => {
  const one = await connectLibrary(namespace);
  const measured: [count: number, heap: number][] = [];
  let batch = Promise.withResolvers<void>();
  let count = 0;
  const worker = new Worker<{ plain: number; sum: number }>(one, {
    concurrency: 100,
    handlers: { plain: () => {}, sum: ({ data }) => data + 1 },
  });
  worker.on("ended", () => {
    count += 1;
    if (count % BATCH === 0) batch.resolve();
  });
  const running = worker.run();
  while (count < JOBS) {
    batch = Promise.withResolvers();
    const jobs = await one.jobs.addMany([
      ...Array.from({ length: AWAITED }, (_, n) => ({
        type: "sum",
        data: count + n,
        key: String(n),
        keepResult: "1s",
      })),
      ...Array.from({ length: BATCH - AWAITED }, (_, n) => ({ type: "plain", data: n })),
    ]);
    const before = count - (count % BATCH);
    const results = await Promise.all(jobs.slice(0, AWAITED).map((job) => job.done()));
    await batch.promise;
    expect(results).toHaveLength(AWAITED);
    expect(count).toBe(before + BATCH);
    if (count < JOBS / 5) continue;
    collectGarbage();
    measured.push([count, process.memoryUsage().heapUsed]);
  }
  await worker.close();
  await running;
  const ended = await one.jobs.list();
  expect(ended.filter(({ state }) => state !== "succeeded")).toEqual([]);
  expect(ended.length, "jobs with the same key have one outcome").toBeLessThanOrEqual(AWAITED);
  await waitUntil("etcd has deleted the outcomes", async () => (await one.jobs.list()).length === 0);
  expect(measured.length).toBeGreaterThan((0.75 * JOBS) / BATCH);
  expect(estimateSlope(measured)).toBeLessThan(LIMIT);
}, 3_600_000);
