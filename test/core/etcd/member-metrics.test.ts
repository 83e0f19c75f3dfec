import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { readMemberMetrics } from "../../../src/core/etcd/member-metrics.ts";

async function readFrom(act: (answer: ServerResponse) => void) {
  const server = createServer((_, answer) => act(answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return await readMemberMetrics(url, undefined, Date.now, new AbortController().signal);
  } finally {
    server.close();
  }
}

test("a server that changes the protocol has no metrics", async () => {
  const read = readFrom((answer) => answer.writeHead(101, { connection: "upgrade", upgrade: "other" }).end());
  expect((await read).compacted).toBeUndefined();
});

test.each<[text: string, compacted: bigint | undefined]>([
  ["etcd_debugging_mvcc_compact_revision 1.25e+06\n", 1_250_000n],
  ["etcd_debugging_mvcc_compact_revision Infinity\n", undefined],
  ["etcd_debugging_mvcc_compact_revision 1e999\n", undefined],
  ["<html>", undefined],
])("metrics %j", async (text, compacted) => {
  expect((await readFrom((answer) => answer.end(text))).compacted).toBe(compacted);
});
