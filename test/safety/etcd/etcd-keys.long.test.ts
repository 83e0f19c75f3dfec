/** `signalbox etcd keys` with 100,000 keys: a page is read, not all. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();
const MANY = 100_000;
const BATCH = 100;

cluster.test(
  "of 100,000 keys, a page is read in little memory, and the rest is counted",
  async ({ namespace }) => {
    const value = "x".repeat(1_000);
    const buildBatch = (start: number): Op[] =>
      Array.from({ length: BATCH }, (_, at) => ({
        op: "put",
        key: `/many/${String(start + at).padStart(6, "0")}`,
        value,
      }));
    for (let start = 0; start < MANY; start += BATCH) await cluster.write(...buildBatch(start));
    const sent = "etcd_network_client_grpc_sent_bytes_total";
    const before = await namespace.readMetric(sent);
    // All values are 100 MB; a heap of 24 MB cannot hold them.
    const env = { NODE_OPTIONS: "--max-old-space-size=24" };
    const { code, stdout, stderr } = await namespace.execute("etcd keys /many/ --values --json", { env });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ left: MANY - 100, next: "/many/000099" });
    expect(document.keys).toHaveLength(100);
    expect((await namespace.readMetric(sent)) - before, "bytes").toBeLessThan(1_000_000);
    expect(await namespace.executeJson("etcd keys /many/ --after /many/099949", { env })).toMatchObject({
      left: 0,
      keys: { length: 50 },
    });
  },
);
