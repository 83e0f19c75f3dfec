import { describe, expect, onTestFinished, test } from "vitest";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import type { Store, WatchBatch } from "../../../src/etcd/store.ts";
import { storeContract } from "../contract/index.ts";
import { createServedSubject, open } from "../served.ts";

storeContract("the http transport with one stream for all watches", () =>
  createServedSubject("http", { sharesWatches: true }),
);

describe("many watches on one stream", () => {
  test("each receives its own events, over one connection", async () => {
    const etcd = await openShared();
    const { store, from } = etcd;
    const stop = new AbortController();
    const watches = Array.from({ length: 100 }, (_, at) => watchOnce(store, `k${at}`, from, stop.signal));
    for (let at = 99; at >= 0; at -= 1) await put(store, `k${at}`, `v${at}`);
    const batches = await Promise.all(watches);
    const keys = batches.map(({ events: [event] }) => event?.type === "put" && event.kv.key);
    expect(keys).toEqual(watches.map((_, at) => `k${at}`));
    expect(await etcd.countStreams()).toBe(1);
  });

  test("a compacted revision ends one watch, and no other", async () => {
    const etcd = await openShared();
    const { store, from } = etcd;
    const stop = new AbortController();
    const other = watchOnce(store, "b", from + 2n, stop.signal);
    await put(store, "a", "1");
    await put(store, "a", "2");
    await etcd.member.runEtcdctl("compact", String(from + 1n));
    await expect(watchOnce(store, "a", 1n, stop.signal)).rejects.toMatchObject({ kind: "compacted" });
    await put(store, "b", "1");
    expect((await other).events).toHaveLength(1);
  });

  test("when the member ends, every watch reports it", async () => {
    const etcd = await openShared();
    const stop = new AbortController();
    const watches = ["a", "b", "c"].map((key) => watchOnce(etcd.store, key, etcd.from, stop.signal));
    await Promise.all(watches.map((_, at) => put(etcd.store, `other${at}`, "1")));
    const ends = Promise.allSettled(watches);
    await etcd.member.stop();
    const kinds = (await ends).map((end) => end.status === "rejected" && end.reason.kind);
    expect(kinds).toEqual(["unavailable", "unavailable", "unavailable"]);
  });
});

async function openShared() {
  const member = await startEtcd();
  const store = await open({ endpoints: member.endpoints, transport: "http", sharesWatches: true });
  onTestFinished(async () => {
    store.close();
    await member.stop();
  });
  const { revision } = await store.readRange({ key: "a" });
  return {
    member,
    store,
    from: revision + 1n,
    countStreams: async () => {
      const text = await (await fetch(`${member.clientUrl}/metrics`)).text();
      return Number(/^etcd_debugging_mvcc_watch_stream_total (\S+)$/m.exec(text)?.[1]);
    },
  };
}

async function watchOnce(store: Store, key: string, from: bigint, signal: AbortSignal): Promise<WatchBatch> {
  for await (const batch of store.watch({ ranges: [{ key }], from }, signal)) return batch;
  throw new Error("a watch ends only by throwing");
}

async function put(store: Store, key: string, value: string): Promise<void> {
  await store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
}
