/** Another program at the address of etcd: a wrong port, or a proxy. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(status: number, body: string) {
  const server = createServer((_, answer) => answer.writeHead(status).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("404: a wrong address is a fault of the configuration, and is named", async () => {
  const endpoint = await serve(404, "404 page not found\n");
  const namespace = cluster.createNamespace({ endpoints: [endpoint] });
  for (const end of [await namespace.run([], "echo ran"), await namespace.execute("ls")]) {
    expect(end).toExit(78, { stdout: "" });
    expect(end.stderr).toContain(`${endpoint} answers 404 Not Found: it is not etcd's client address`);
    expect(end.stderr).not.toContain("defect");
  }
});

test.each([
  ["a page", 200, "<html></html>", 69],
  ["JSON of another program", 200, '{"hello":"world"}', 78],
  ["a server of files, which knows no POST", 501, "<html></html>", 78],
  ["a fault of another program", 500, "oops", 69],
])("%s: nothing is started, and it is no defect of signalbox", async (_, status, body, code) => {
  const endpoint = await serve(status, body);
  const namespace = cluster.createNamespace({
    endpoints: [endpoint],
    env: { SIGNALBOX_CONNECT_TIMEOUT: "1s" },
  });
  const end = await namespace.run([], "echo ran");
  expect(end.code).toBe(code);
  expect(end.stdout).toBe("");
  expect(end.stderr).toMatch(/http:\/\/127\.0\.0\.1:\d+|the setting endpoints is wrong/);
  expect(end.stderr).not.toContain("defect");
});

test("a proxy of the environment is not used, over either transport", async () => {
  const proxy = await serve(502, "no way");
  for (const transport of TRANSPORTS) {
    const env = { http_proxy: proxy, https_proxy: proxy, grpc_proxy: proxy, all_proxy: proxy };
    const run = cluster.createNamespace({ transport, env }).startRun([], "echo ran");
    expect(await run.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  }
});
