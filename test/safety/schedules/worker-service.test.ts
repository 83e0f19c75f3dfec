/** A worker as a service: metrics, hooks and systemd notifications. */

import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startReceiver } from "../../../fixtures/worker/receiver.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Puts a schedule that was due once, at the beginning of a minute, at least `late` ms ago. */
async function putDueSchedule(namespace: TestNamespace, id: string, more: Partial<Definition>, late = 0) {
  const at = new Date(Math.floor((Date.now() - late) / 60_000) * 60_000);
  const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`;
  await namespace.put(
    namespace.keys.due(id),
    JSON.stringify({ v: 1, next: at.getTime(), runAt: at.getTime() }),
  );
  await namespace.put(namespace.keys.schedule(id), formatDefinition({ cron, timezone: "UTC", ...more }));
}

/** Keeps the paths that are posted to, with what was said. */
async function startListener() {
  const calls: { path: string | undefined; word: Record<string, unknown> }[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    calls.push({ path: request.url, word: JSON.parse(Buffer.concat(chunks).toString()) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

/** Asks for a path until the answer has this. */
async function scrape(worker: ReturnType<TestNamespace["start"]>, path: string, wanted: RegExp) {
  await worker.waitForOutput(/metrics are served at=\S+\n/);
  const [, address] = /metrics are served at=(\S+)\n/.exec(worker.output.stderr) ?? [];
  return await waitUntil(`${path} has ${wanted}`, async () => {
    const text = await (await fetch(`http://${address}${path}`)).text();
    return wanted.test(text) && text;
  });
}

test("figures, hooks and systemd's words follow what a worker does", async ({ namespace }) => {
  const { url, calls } = await startListener();
  const socket = join(createTestFolder(), "notify");
  const { words } = await startReceiver(socket);
  const hooks = { missed: `${url}/worker/missed`, late: `${url}/worker/late` };
  const file = cluster.createPath(JSON.stringify({ handlers: [], hooks, metrics: "0" }));
  const systemd = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "200000" };
  const worker = namespace.start(`worker --handlers ${file} --concurrency 3`, { env: systemd });
  await waitUntil("systemd knows that it is ready", () => words().includes("READY=1"));

  const own = `${url}/own{event}`;
  const all = { start: own, success: own, failure: own };
  const [good, bad] = ["exit 0", 'test -z "$NOTIFY_SOCKET$WATCHDOG_USEC" && exit 3'];
  await putDueSchedule(namespace, "good", { type: "mail", command: ["sh", "-c", good ?? ""], hooks: all });
  await waitUntil("its end is told", () => calls.some(({ path }) => path === "/own"));
  await putDueSchedule(
    namespace,
    "bad",
    { type: "mail", command: ["sh", "-c", bad ?? ""], hooks: all },
    90_000,
  );
  await putDueSchedule(namespace, "missed", { type: "sweep", command: ["true"], catchup: "none" }, 120_000);
  const told = ["/own/fail", "/worker/late", "/worker/missed"];
  const isTold = (path: string) => calls.some((call) => call.path === path);
  await waitUntil("all is told", () => told.every(isTold), { describe: () => JSON.stringify(calls) });
  const listPaths = (id: string, of: string) =>
    calls
      .map(({ path = "", word }) => (word.schedule === id ? path : ""))
      .filter((path) => path.startsWith(of));
  expect(listPaths("good", "/own")).toEqual(["/own/start", "/own"]);
  expect(listPaths("bad", "/own")).toEqual(["/own/start", "/own/fail"]);
  expect(listPaths("bad", "/worker")).toEqual(["/worker/late"]);
  expect(listPaths("missed", "/")).toEqual(["/worker/missed"]);
  const failure = calls.find(({ path }) => path === "/own/fail");
  expect(failure?.word).toMatchObject({ event: "failure", result: "failed", code: 3, isDead: true });

  const text = await scrape(worker, "/metrics", /hooks_total\{result="ok"\} [6-9]/);
  for (const line of [
    'fired_total{type="mail"} 2',
    'failed_total{type="mail"} 1',
    'dead_total{type="mail"} 1',
    'skipped_total{type="sweep"} 1',
    'late_seconds_count{type="mail"} 2',
    "concurrency 3",
    "running 0",
    "clock_trusted 1",
  ])
    expect(text).toContain(`\nsignalbox_worker_${line}\n`);
  expect(await scrape(worker, "/healthz", /./)).toBe("ok\n");
  await waitUntil("the watchdog is fed", () => words().includes("WATCHDOG=1"));

  worker.kill("SIGHUP");
  await waitUntil("it has read its file", () => words().filter((word) => word === "READY=1").length === 2);
  expect(words().some((word) => /^RELOADING=1\nMONOTONIC_USEC=\d+$/.test(word))).toBe(true);
  expect(await worker.end()).toExit(0);
  await waitUntil("systemd knows that it stops", () => words().includes("STOPPING=1"));
});

test("a worker without a session is not healthy, and its watchdog is not fed", async ({ namespace }) => {
  const proxy = await FaultProxy.start(cluster.etcd.clientUrl);
  onTestFinished(() => proxy.close());
  const socket = join(createTestFolder(), "notify");
  const { words } = await startReceiver(socket);
  const env = {
    NOTIFY_SOCKET: socket,
    WATCHDOG_USEC: "200000",
    SIGNALBOX_ENDPOINTS: proxy.url,
  };
  const worker = namespace.start("worker --metrics 0 --ttl 2s --termination-timeout 0", {
    env,
  });
  await waitUntil("the watchdog is fed", () => words().includes("WATCHDOG=1"));
  proxy.mode = "refuse";
  proxy.reset();
  await scrape(worker, "/healthz", /the worker has no session/);
  proxy.mode = "forward";
  await scrape(worker, "/healthz", /^ok$/m);
  expect(await worker.end()).toExit(0);
});

test("a port that is taken ends the worker before it has taken anything", async ({ namespace }) => {
  const { url } = await startListener();
  const { code, stderr } = await namespace.execute(["worker", "--metrics", new URL(url).host]);
  expect([code, stderr]).toEqual([78, expect.stringContaining("is taken by another program")]);
});
