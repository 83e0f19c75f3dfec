/** Messages if the address does not lead to etcd. 78: another program has certainly answered. 69: it may be a faulty etcd. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";

const cluster = TestCluster.startForFile();
const servers: Server[] = [];
let secure: EtcdMember;
beforeAll(async () => {
  secure = await startEtcd({ tls: {} });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await secure?.stop();
});

async function listen(server: Server) {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server to which a connection that breaks is nothing new. */
function startRudeServer(greet: (socket: Socket) => void) {
  return createServer((socket) => {
    socket.on("error", () => {});
    greet(socket);
  });
}

const startAnsweringServer = (status: number, body: string, headers = {}) =>
  listen(createHttp((_, response) => response.writeHead(status, headers).end(body)));
/** What answers there, and with what a run ends, over each transport. */
const ELSEWHERE: [what: string, http: number, grpc: number, start: () => Promise<string>][] = [
  ["a web server without such a page", 78, 69, () => startAnsweringServer(404, "<html>Not Found</html>")],
  [
    "a web server that sends everybody on",
    78,
    69,
    () => startAnsweringServer(302, "", { location: "https://example.com/" }),
  ],
  ["a web server that greets everybody", 69, 69, () => startAnsweringServer(200, "<html>Welcome</html>")],
  ["a service that answers in JSON", 78, 69, () => startAnsweringServer(200, '{"status":"up"}')],
  [
    "a service that does not know the call",
    78,
    69,
    () => startAnsweringServer(404, '{"code":5,"message":"Not Found"}'),
  ],
  ["a gateway whose server is away", 69, 69, () => startAnsweringServer(502, "<html>Bad Gateway</html>")],
  [
    "a server of HTTP/2 without such a page",
    69,
    78,
    () => listen(createHttp2((_, response) => response.writeHead(404).end("Not Found"))),
  ],
  [
    "a server that speaks nonsense",
    69,
    69,
    () => listen(startRudeServer((socket) => socket.end("SSH-2.0-x\r\n"))),
  ],
  ["a server that hangs up", 69, 69, () => listen(startRudeServer((socket) => socket.destroy()))],
];
const HASTY = { SIGNALBOX_CONNECT_TIMEOUT: "4s" };

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  test.each(ELSEWHERE)("%s: nothing is started, and the address is named", async (_, http, grpc, start) => {
    const address = await start();
    const namespace = cluster.createNamespace({ transport, env: HASTY, endpoints: [address] });
    const { code, stdout, stderr } = await namespace.run([], "echo ran");
    expect({ code, stdout }).toEqual({ code: transport === "http" ? http : grpc, stdout: "" });
    expect(stderr).toContain(`http://${address}`);
    expect(stderr).not.toMatch("defect");
  });

  test("plaintext to TLS and TLS to plaintext: 69, and what to write instead", async () => {
    const plain = { SIGNALBOX_ENDPOINTS: secure.clientUrl.replace("https", "http") };
    const toTls = await cluster
      .createNamespace({ transport, env: { ...HASTY, ...plain } })
      .run([], "echo ran");
    expect(toTls).toFail(69, transport === "http" ? /https/ : /http:/);
    const tls = { SIGNALBOX_ENDPOINTS: cluster.etcd.clientUrl.replace("http", "https") };
    const toPlain = await cluster
      .createNamespace({ transport, env: { ...HASTY, ...tls } })
      .run([], "echo ran");
    expect(toPlain).toFail(69, /https:\S+: .*the port does not speak TLS \(is it http\?\)/);
  });

  test("an authority of the system is trusted; an unknown one: 69, and a hint at --cacert", async () => {
    const { ca } = secure.certificates ?? { ca: "" };
    const system = cluster.createPath(`# what others put there\n${readFileSync(ca, "utf8")}`, 0o644);
    const endpoints = { SIGNALBOX_ENDPOINTS: secure.clientUrl };
    const known = cluster.createNamespace({ transport, env: { ...endpoints, SSL_CERT_FILE: system } });
    expect(await known.run([], "echo ran")).toPrint("ran\n");
    const unknown = cluster.createNamespace({
      transport,
      env: { ...endpoints, SIGNALBOX_CONNECT_TIMEOUT: "10s" },
    });
    expect(await unknown.run([], "echo ran")).toFail(69, /certificate.*--cacert/);
  });

  test.each(["CACERT", "CERT", "KEY"])("%s beside an address without TLS: 78, naming both", async (name) => {
    const file = cluster.createPath("any");
    const variable = `SIGNALBOX_${name}`;
    const namespace = cluster.createNamespace({ transport, env: { [variable]: file } });
    const end = await namespace.run([], "echo ran");
    expect(end).toFail(78, new RegExp(`${variable}.*${cluster.etcd.clientUrl}.*does not use TLS`));
  });

  test("proxies of the web are left aside", async () => {
    let asked = 0;
    const proxy = await listen(
      startRudeServer((socket) => {
        asked += 1;
        socket.destroy();
      }),
    );
    const names = ["http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"];
    const env = Object.fromEntries(names.map((name) => [name, `http://${proxy}`]));
    const namespace = cluster.createNamespace({
      transport,
      env: { ...env, no_proxy: "", no_grpc_proxy: "" },
    });
    expect(await namespace.run([], "echo ran")).toPrint("ran\n");
    expect(asked).toBe(0);
  });
});
