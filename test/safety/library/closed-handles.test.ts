/** `await using` closes connections, claims, sources and workers: no handle is left, and the program ends by itself. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Uses everything that the library can open, in `rounds` connections one after the other. Prints what is open before and after. */
const PROGRAM = `
import { readdirSync } from "node:fs";
import { connect, Worker } from "signalbox";

const countHandles = () => ({
  files: readdirSync("/proc/self/fd").length,
  resources: process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name)),
});

async function useAll() {
  // Long, so that a timer that is left does not end meanwhile.
  await using signalbox = await connect({ ttl: "10m", terminationTimeout: "5m" });
  await using held = await signalbox.acquire({ lock: "a", leases: ["db=1:2"] });
  await using worker = new Worker(signalbox, { handlers: { sum: ({ data }) => data[0] + data[1], wait: ({ signal }) => waitFor(signal) } });
  void worker.run();
  const job = await signalbox.jobs.add("sum", [1, 2], { keepResult: "1m" });
  if ((await job.done()) !== 3) throw new Error("a wrong result");
  await signalbox.jobs.add("wait");
  await using source = await signalbox.schedules.open();
  const never = await signalbox.jobs.add("never", 1, { delay: "1h", keepResult: "1m" });
  never.done().catch(() => {});
  for await (const holder of signalbox.watchLock("a")) if (holder?.token === held.token) break;
  await waitUntil(() => worker.running > 0);
  signalbox.schedules.poll({ wait: true }).catch(() => {});
}
const waitFor = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
async function waitUntil(is) {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5));
}

await useAll(); // loads what is loaded once
await waitUntil(() => countHandles().resources.length === 0);
const before = countHandles();
for (let round = 0; round < 10; round += 1) await useAll();
const end = Date.now() + 60_000;
await waitUntil(() => countHandles().resources.length === 0 || Date.now() > end); // sessions are revoked in the background
console.log(JSON.stringify({ before, after: countHandles() }));
`;

test("of a program that closes all, none is left", async ({ namespace }) => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", PROGRAM],
    {
      env: {
        ...namespace.env,
        PATH: process.env.PATH,
        SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
        SIGNALBOX_PREFIX: namespace.prefix,
      },
    },
  );
  expect(stderr).toBe("");
  const { before, after } = JSON.parse(stdout);
  expect(after.resources).toEqual([]);
  expect(after.files).toBeLessThanOrEqual(before.files);
});
