/** A store on a cluster with frozen and killed members, with both transports. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, type RunningEtcd, startCluster } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import { catchErrorKind, put, write } from "../../../fixtures/etcd/store-calls.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { AT_ONCE, createId, createKey, measureCall, NEVER, startWatch } from "./faults-helpers.ts";

export function testClusterFaults(transport: Transport): void {
  describe(`${transport} over a cluster in trouble`, () => {
    const HEDGE = 400;
    let cluster: RunningEtcd;
    const stores: Store[] = [];
    beforeAll(async () => {
      cluster = await startCluster(3);
    });
    afterEach(async () => {
      for (const store of stores.splice(0)) store.close();
      for (const member of cluster.members) member.unfreeze();
      await Promise.all(cluster.members.map((member) => member.waitUntilReady()));
    });
    afterAll(() => cluster?.stop());

    const openStore = async (
      endpoints: string[],
      timeouts: StoreOptions["timeouts"] = {},
    ): Promise<Store> => {
      const store = await open({ endpoints, transport, timeouts });
      stores.push(store);
      return store;
    };

    /** A store that starts with this member. */
    const openStartingAt = async ({ clientUrl }: EtcdMember, change: StoreOptions["timeouts"] = {}) => {
      const others = cluster.endpoints.filter((endpoint) => endpoint !== clientUrl);
      const timeouts = { attempt: 2_000, hedge: HEDGE, total: 30_000, ...change };
      const store = await openStore([clientUrl, ...others], timeouts);
      await store.readRange({ key: "warm up" });
      return store;
    };

    const member = async (role: "leader" | "follower"): Promise<EtcdMember> => {
      const all = await (await openStore(cluster.endpoints)).readMemberStatuses();
      const found = all.findIndex((one) => one.ok && (one.memberId === one.leaderId) === (role === "leader"));
      const chosen = cluster.members[found];
      if (!chosen) throw new Error(`no ${role} found`);
      return chosen;
    };

    it("pays the hedge once for a frozen follower, then stays away from it", async () => {
      const follower = await member("follower");
      const store = await openStartingAt(follower, { attempt: NEVER, total: NEVER });
      follower.freeze();
      expect(await measureCall(write(store, put(createKey())))).toBeLessThan(AT_ONCE);
      const later: number[] = [];
      for (let call = 0; call < 5; call += 1) later.push(await measureCall(write(store, put(createKey()))));
      expect(Math.min(...later), "ms: on a slow machine some take long by themselves").toBeLessThan(HEDGE);
    });

    it("breaks a watch on a frozen follower as soon as a call has noticed", async () => {
      const follower = await member("follower");
      const store = await openStartingAt(follower);
      const watch = await startWatch(store, store);
      const next = catchErrorKind(watch.next());
      follower.freeze();
      await store.readRange({ key: "a" });
      expect(await next).toBe("unavailable");
    });

    it("goes on after a frozen leader was replaced", async () => {
      const leader = await member("leader");
      const store = await openStartingAt(leader);
      const id = createId();
      await store.grant(id, 60);
      leader.freeze();
      await write(store, put(createKey()));
      expect((await store.renew(id)).ttl).toBe(60);
    });

    it("goes on after the leader was killed, and says so in its status", async () => {
      const leader = await member("leader");
      const store = await openStartingAt(leader);
      const { raftTerm } = await store.readRange({ key: "a" });
      await leader.kill();
      const answer = await write(store, put(createKey()));
      expect(answer.raftTerm).toBeGreaterThan(raftTerm);
      const all = await store.readMemberStatuses();
      expect(all.map(({ ok }) => ok).sort()).toEqual([false, true, true]);
      expect(all.find((one) => !one.ok)).toMatchObject({
        endpoint: leader.clientUrl,
        error: { kind: "unavailable" },
      });
      await leader.restart();
    });

    it("says unavailable in time when there is no quorum, and recovers", async () => {
      const [first, second, third] = cluster.members;
      if (!first || !second || !third) throw new Error("three members");
      const store = await openStartingAt(third);
      const hasty = await openStore(cluster.endpoints, { attempt: 500, hedge: 200, total: 1_500 });
      first.freeze();
      second.freeze();
      const refused = catchErrorKind(write(hasty, put(createKey())));
      const elapsed = await measureCall(refused);
      expect(await refused).toBe("unavailable");
      expect(elapsed).toBeLessThan(8_000); // the others would try for 30 s
      first.unfreeze();
      second.unfreeze();
      await write(store, put(createKey()));
    });
  });
}
