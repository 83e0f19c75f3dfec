/** `signalbox worker` gives memory back to the system when a burst of tasks is over. */
import { expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { WORKER_JOINED } from "../../../fixtures/schedule/due-schedules.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile({ sessionTimes: "long" });
const { test } = cluster;

/** Says what is collected, and that the heap has pages to give back. */
const HOOK = `
globalThis.gc = (options) => console.error("collects", options.flavor);
const v8 = require("node:v8");
const { getHeapStatistics } = v8;
v8.getHeapStatistics = () => ({ ...getHeapStatistics(), total_physical_size: 2 ** 27 });
`;

test("a worker collects garbage once after a thousand tasks", async ({ namespace }) => {
  const { url, requests } = await startWebServer();
  const file = cluster.createPath(JSON.stringify({ handlers: [{ type: "job", http: { url } }] }));
  const env = { NODE_OPTIONS: `--require ${cluster.createPath(HOOK)}` };
  const worker = namespace.start(["worker", "--concurrency", "100", "--handlers", file], { env });
  await worker.waitForOutput(WORKER_JOINED);
  const signalbox = await connectLibrary(namespace);
  await signalbox.jobs.addMany(Array.from({ length: 1_000 }, () => ({ type: "job" })));
  await worker.waitForOutput("collects last-resort");
  expect(requests).toHaveLength(1_000);
  const { stderr } = await worker.end();
  expect(stderr.match(/collects/g)).toHaveLength(1);
});
