/** The HTTP transport with servers that are not etcd, or that have no gateway. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import { catchErrorKind, catchRefusal, watchOnce } from "../../../fixtures/etcd/store-calls.ts";
import type { Store } from "../../../src/core/etcd/store.ts";

const HEADER = { revision: "7", raft_term: "3" };

describe("the lean transport", () => {
  let server: Server | undefined;
  let store: Store | undefined;
  afterEach(() => {
    store?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** @param total  what is answered for good needs no deadline, which a slow machine would miss */
  const openStoreOn = async (listener: RequestListener, total = 60_000) => {
    server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const timeouts = { attempt: total, hedge: total, total };
    store = await open({ endpoints: [`127.0.0.1:${port}`], timeouts });
    return store;
  };
  it("says that the gateway is off, and what to do", async () => {
    const etcd = await startEtcd({ gateway: false });
    store = await open({ endpoints: etcd.endpoints });
    const error = await catchRefusal(store.readRange({ key: "a" }));
    expect(error).toMatchObject({ kind: "notEtcd", message: expect.stringContaining("transport grpc") });
    expect(await catchErrorKind(watchOnce(store, "a", 1n))).toBe("notEtcd");
    await etcd.stop();
  });

  it.each([
    ["a page of a proxy", 502, "<html>Bad Gateway</html>"],
    ["an answer that is no JSON", 200, "<html>Welcome</html>"],
    ["an empty answer", 200, ""],
    ["a number", 200, "7"],
  ])("takes %s for unavailable", async (_what, status, body) => {
    const bad = await openStoreOn((_request, response) => response.writeHead(status).end(body), 150);
    expect(await catchErrorKind(bad.readRange({ key: "a" }))).toBe("unavailable");
  });

  it("does not take any JSON for etcd's", async () => {
    const other = await openStoreOn((_request, response) => response.end('{"hello":"world"}'));
    expect((await catchRefusal(other.readRange({ key: "a" }))).message).toMatch("not answer as etcd does");
  });

  it.each([
    [14, "etcdserver: no leader", "unavailable"],
    [14, "etcdserver: request timed out", "unavailable"],
    [4, "context deadline exceeded", "unavailable"],
    [1, "context canceled", "unavailable"],
    [2, "something new", "unavailable"],
    [8, "etcdserver: too many requests", "unavailable"],
    [8, "etcdserver: mvcc: database space exceeded", "noSpace"],
    [3, "etcdserver: request is too large", "tooLarge"],
    [8, "grpc: received message larger than max (2200000 vs. 2097152)", "tooLarge"],
    [12, "unknown method", "notEtcd"],
    [5, "Not Found", "notEtcd"],
    [3, "etcdserver: authentication failed, invalid user ID or password", "unauthenticated"],
    [16, "etcdserver: invalid auth token", "unauthenticated"],
    [7, "etcdserver: permission denied", "permission"],
  ])("reads code %i, %j as %s", async (code, message, kind) => {
    const body = JSON.stringify({ error: message, message, code });
    const total = kind === "unavailable" ? 150 : undefined;
    const failing = await openStoreOn((_, response) => response.writeHead(500).end(body), total);
    expect(await catchErrorKind(failing.readRange({ key: "a" }))).toBe(kind);
  });

  it("reads a watch wherever its chunks are cut", async () => {
    const key = Buffer.from("k\u00fc").toString("base64");
    const event = { kv: { key, create_revision: "7", mod_revision: "7", value: "dg==" } };
    const lines = [
      { result: { header: HEADER, created: true } },
      { result: { header: HEADER } },
      { result: { header: HEADER, events: [event, { type: "DELETE", kv: { key, mod_revision: "7" } }] } },
      { error: { grpc_code: 14, http_code: 503, message: "etcdserver: no leader" } },
    ].map((line) => JSON.stringify(line));
    const cut = await openStoreOn(async (_request, response) => {
      for (const byte of Buffer.from(lines.join("\n"))) {
        response.write(Buffer.from([byte]));
        if (byte % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const watch = cut
      .watch({ ranges: [{ key: "k" }], from: 7n }, new AbortController().signal)
      [Symbol.asyncIterator]();
    const { value } = await watch.next();
    expect(value).toMatchObject({
      revision: 7n,
      events: [{ type: "put", kv: { value: "v" } }, { type: "delete" }],
    });
    expect((await catchRefusal(watch.next())).message).toContain("no leader");
  });

  it("loads nothing but node:net on its way to a plaintext etcd", async () => {
    const script = `
      const seen = [];
      require("node:module").registerHooks({
        resolve: (specifier, context, next) => (seen.push(specifier), next(specifier, context)),
      });
      import(${JSON.stringify(path.resolve("src/core/etcd/open.ts"))}).then(async ({ openStore }) => {
        await openStore({ endpoints: ["localhost"] }, { clock: {} });
        console.log(JSON.stringify(seen.filter((specifier) => !/^[./]/.test(specifier))));
      });`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
    expect(new Set(JSON.parse(stdout))).toEqual(new Set(["node:net"]));
  });
});
