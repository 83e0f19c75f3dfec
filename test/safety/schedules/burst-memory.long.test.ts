/** `signalbox worker` gives memory back to the system when a burst of tasks is over. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { buildCollectionHook } from "../../../fixtures/process/collection-hook.ts";
import { WORKER_JOINED } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile({ sessionTimes: "long" });
const { test } = cluster;

test("a worker collects garbage once after a thousand tasks", async ({ namespace }) => {
  const { url, requests } = await startWebServer();
  const file = cluster.createPath(JSON.stringify({ handlers: [{ type: "job", http: { url } }] }));
  const log = cluster.createPath("");
  const env = { NODE_OPTIONS: `--require ${cluster.createPath(buildCollectionHook(log))}` };
  const worker = namespace.start(["worker", "--concurrency", "100", "--handlers", file], { env });
  await worker.waitForOutput(WORKER_JOINED);
  const signalbox = await connectLibrary(namespace);
  await signalbox.jobs.addMany(Array.from({ length: 1_000 }, () => ({ type: "job" })));
  await waitUntil("collection", () => readFileSync(log, "utf8").includes("last-resort"));
  expect(requests).toHaveLength(1_000);
  await worker.end();
  expect(readFileSync(log, "utf8")).toMatch(/^last-resort \d+\n$/);
});
