import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { readMemberMetrics } from "../../src/etcd/member-metrics.ts";

test.each<[text: string, compacted: bigint | undefined]>([
  ["etcd_debugging_mvcc_compact_revision 1.25e+06\n", 1_250_000n],
  ["etcd_debugging_mvcc_compact_revision Infinity\n", undefined],
  ["etcd_debugging_mvcc_compact_revision 1e999\n", undefined],
  ["<html>", undefined],
])("metrics %j", async (text, compacted) => {
  const server = createServer((_, answer) => answer.end(text)).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const read = await readMemberMetrics(url, undefined, Date.now, new AbortController().signal);
    expect(read.compacted).toBe(compacted);
  } finally {
    server.close();
  }
});
