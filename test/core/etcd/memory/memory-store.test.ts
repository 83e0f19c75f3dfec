import { describe, expect, it } from "vitest";
import { put, remove } from "../../../../fixtures/protocol/claim-fixture.ts";
import { toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { MemoryEtcd, MemoryStore } from "../../../../src/core/etcd/memory/memory-store.ts";
import { testStoreContract } from "../contract/index.ts";

testStoreContract("the memory store", async () => {
  let now = 0;
  const store = MemoryStore.create({ now: () => toMonotonicTime(now) }, { minTtl: 1 });
  return {
    store,
    compact: async (revision) => store.etcd.compact(revision),
    pass: async (ms) => {
      await new Promise((resolve) => setImmediate(resolve)); // whoever waits for this has begun to
      now += ms;
      store.etcd.expire(now);
    },
    stop: async () => {},
  };
});

describe("the memory core", () => {
  it("ends overdue sessions lazily, one revision each, the longest overdue first", () => {
    let now = 0;
    const etcd = new MemoryEtcd({ now: () => now });
    etcd.grant(1n, 10);
    etcd.grant(2n, 5);
    put(etcd, "a", "", 1n);
    put(etcd, "b", "", 2n);
    const deleted: unknown[] = [];
    etcd.subscribe([{ key: "\0", rangeEnd: "\0" }], etcd.revision + 1n, ({ revision, events }) => {
      deleted.push([revision, events.map((event) => (event.type === "delete" ? event.key : "put"))]);
    });
    now = 9_999;
    expect(etcd.range({ key: "a" }).count).toBe(1);
    expect(deleted).toEqual([[4n, ["b"]]]);
    now = 10_000;
    expect(etcd.range({ key: "a" }).count).toBe(0);
    expect(deleted).toHaveLength(2);
  });

  it("ends nothing by itself with manual expiry", () => {
    let now = 0;
    const etcd = new MemoryEtcd({ now: () => now, expiry: "manual" });
    etcd.grant(1n, 5);
    now = 60_000;
    expect(etcd.renew(1n).ttl).toBe(5);
    now = 65_000;
    expect(etcd.expire(64_999)).toBe(0);
    expect(etcd.expire(now)).toBe(1);
    expect(() => etcd.renew(1n)).toThrow("not found");
  });

  it("restarts every session when a leader is elected", () => {
    let now = 0;
    const etcd = new MemoryEtcd({ now: () => now });
    etcd.grant(1n, 5);
    now = 4_000;
    const { raftTerm } = etcd.getHeader();
    etcd.electLeader();
    expect(etcd.getDeadline(1n)).toBe(9_000);
    expect(etcd.getHeader().raftTerm).toBe(raftTerm + 1n);
  });

  it("refuses puts and grants when it is full, not reads, renewals and deletes", () => {
    const etcd = new MemoryEtcd({ now: () => 0 });
    etcd.grant(1n, 5);
    put(etcd, "a", "", 1n);
    etcd.full = true;
    expect(() => put(etcd, "b", "")).toThrow("space");
    expect(() => etcd.grant(2n, 5)).toThrow("space");
    etcd.renew(1n);
    remove(etcd, "a");
    expect(etcd.revoke(1n)).toBe(true);
  });

  it("lets a subscriber write, and delivers in order", () => {
    const etcd = new MemoryEtcd({ now: () => 0 });
    const seen: bigint[] = [];
    etcd.subscribe([{ key: "a" }], 0n, ({ revision }) => {
      seen.push(revision);
      if (seen.length < 3) put(etcd, "a", "");
    });
    put(etcd, "a", "");
    expect(seen).toEqual([2n, 3n, 4n]);
  });
});
