import { expect, test } from "vitest";
import { put, write } from "../../../fixtures/etcd/store-calls.ts";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { type ClaimShare, proveShares } from "../../../src/agent/shared-session.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";

test("many claims are proved by one read; if a ticket has changed, each is proved by itself", async () => {
  const store = MemoryStore.create(new ManualClock());
  const asked: string[] = [];
  const shares = await Promise.all(
    ["a", "b", "c"].map(async (key) => {
      const { revision } = await write(store, put(key));
      const prove = async () => {
        asked.push(key);
        return { raftTerm: 1n, fault: key === "b" ? "changed" : undefined };
      };
      return { listTickets: () => [{ key, modRevision: revision }], prove } as unknown as ClaimShare;
    }),
  );
  const proveAll = async () => {
    const faults = new Map<ClaimShare, string | undefined>();
    await proveShares(store, shares, "anchor", (share, { fault }) => faults.set(share, fault));
    return shares.map((share) => (faults.has(share) ? (faults.get(share) ?? "fine") : "no proof"));
  };
  expect(await proveAll()).toEqual(["fine", "fine", "fine"]);
  expect(asked).toEqual([]);
  await write(store, put("b", "reset"));
  expect(await proveAll()).toEqual(["fine", "changed", "fine"]);
  expect(asked).toEqual(["a", "b", "c"]);
});
