import { describe, expect, onTestFinished, test } from "vitest";
import { startEtcd } from "../../../../fixtures/etcd/index.ts";
import { createServedSubject, open } from "../../../../fixtures/etcd/served-subject.ts";
import { catchErrorKind, put, watchOnce, write } from "../../../../fixtures/etcd/store-calls.ts";
import { testStoreContract } from "../contract/index.ts";

testStoreContract("the http transport with one stream for all watches", () =>
  createServedSubject("http", { sharesWatches: true }),
);

describe("many watches on one stream", () => {
  test("each receives its own events, over one connection", async () => {
    const { store, from, countStreams } = await openShared();
    const watches = Array.from({ length: 100 }, (_, at) => watchOnce(store, `k${at}`, from));
    for (let at = 99; at >= 0; at -= 1) await write(store, put(`k${at}`));
    const batches = await Promise.all(watches);
    const keys = batches.map(({ events: [event] }) => event?.type === "put" && event.kv.key);
    expect(keys).toEqual(watches.map((_, at) => `k${at}`));
    expect(await countStreams()).toBe(1);
  });

  test("a compacted revision ends one watch, and no other", async () => {
    const { store, from, member } = await openShared();
    const other = watchOnce(store, "b", from + 2n);
    for (const value of ["1", "2"]) await write(store, put("a", value));
    await member.runEtcdctl("compact", String(from + 1n));
    expect(await catchErrorKind(watchOnce(store, "a", 1n))).toBe("compacted");
    await write(store, put("b"));
    expect((await other).events).toHaveLength(1);
  });

  test("when the member ends, every watch reports it", async () => {
    const { store, from, member } = await openShared();
    const kinds = ["a", "b", "c"].map((key) => catchErrorKind(watchOnce(store, key, from)));
    await Promise.all(kinds.map((_, at) => write(store, put(`other${at}`))));
    await member.stop();
    expect(await Promise.all(kinds)).toEqual(["unavailable", "unavailable", "unavailable"]);
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
