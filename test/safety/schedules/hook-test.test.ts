import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Answers 200, or 404 below /missing. */
async function startServer() {
  const calls: { path: string | undefined; body: string }[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    calls.push({ path: request.url, body: Buffer.concat(chunks).toString() });
    response.writeHead(request.url?.startsWith("/missing") ? 404 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

test("an address or a command line is called without etcd, and the result is printed", async () => {
  const namespace = cluster.createNamespace({ endpoints: ["http://127.0.0.1:9"] });
  const { url, calls } = await startServer();
  const posted = await namespace.execute(["hook", "test", `slack+${url}/a`]);
  expect([posted.code, posted.stderr]).toEqual([0, ""]);
  expect(posted.stdout).toMatch(/failure +127\.0\.0\.1:\d+ +ok/);
  expect(JSON.parse(calls[0]?.body ?? "").text).toContain("example has failed with exit code 1");
  const run = await namespace.execute("hook test \"sh -c 'cut -c 1-40 >&2; exit 3'\" --event dead --json");
  expect(run).toExit(1);
  expect(JSON.parse(run.stdout).rows).toEqual([
    {
      event: "dead",
      hook: '"sh"',
      fault: expect.stringMatching(/^exit code 3; its output: .*"event":"dead"/),
    },
  ]);
});

test("all hooks of a schedule are called, and one that fails is named without its path", async ({
  namespace,
}) => {
  const { url, calls } = await startServer();
  const hooks = { success: `${url}/ok`, "failed-first": `${url}/missing/secret` };
  const definition = formatDefinition({ cron: "0 3 * * *", timezone: "UTC", hooks });
  await namespace.put(namespace.keys.schedule("backup"), definition);
  const ended = await namespace.execute("hook test --schedule backup");
  expect([ended.code, ended.stderr]).toEqual([1, ""]);
  expect(ended.stdout).toMatch(/success +127\.0\.0\.1:\d+ +ok\nfailed-first +\S+ +failed: it answered 404/);
  expect(ended.stdout).not.toContain("secret");
  expect(calls.map(({ path }) => path)).toEqual(["/ok", "/missing/secret"]);
  expect(await namespace.store.readRange({ key: namespace.keys.outcomes("backup") })).toMatchObject({
    kvs: [],
  });
});

test.each([
  [["hook", "test"], "needs an address"],
  [["hook", "test", "discord+https://x.example.com"], "must be a command line, or https://…, slack+https"],
  [["hook", "test", "http://x", "--schedule", "backup"], "only one of them"],
  [["hook", "test", "http://x", "--event", "fails"], "failed-first"],
])("%j is refused", async (args, message) => {
  const ended = await cluster.createNamespace().execute(args);
  expect(ended).toExit(64);
  expect(ended.stderr).toMatch(message);
});
