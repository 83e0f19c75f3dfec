import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startEtcdStub } from "../../scripts/build/etcd-stub.ts";

test("the stub of etcd survives a request that is cut off when it closes", async () => {
  const { server, endpoint } = await startEtcdStub();
  const client = connect(Number(new URL(endpoint).port), "127.0.0.1");
  client.write("POST / HTTP/1.1\r\nHost: etcd\r\nContent-Length: 99\r\n\r\n{");
  const [request] = await once(server, "request");
  const closed = new Promise((resolve) => request.once("close", resolve));
  server.closeAllConnections();
  await Promise.all([closed, once(client, "close")]);
  server.close();
  await once(server, "close"); // an error in the stub would fail this file
  expect(request.complete).toBe(false);
});
