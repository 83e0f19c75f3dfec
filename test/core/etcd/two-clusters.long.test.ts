/** Endpoints of two clusters, which would both grant the same lock. The store accepts answers of only one cluster. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { TRANSPORTS, type Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import { catchErrorKind, catchRefusal, put, watchOnce, write } from "../../../fixtures/etcd/store-calls.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { createId } from "./faults-helpers.ts";

const TIMEOUTS = { attempt: 1_000, hedge: 100, total: 1_500 };

const stores: Store[] = [];
let ours: EtcdMember;
let theirs: EtcdMember;
let ids: { ours: bigint; theirs: bigint };

beforeAll(async () => {
  [ours, theirs] = await Promise.all([startEtcd(), startEtcd()]);
  ids = { ours: await readClusterId(ours), theirs: await readClusterId(theirs) };
  expect(ids.ours).not.toBe(ids.theirs);
  return async () => void (await Promise.all([ours.stop(), theirs.stop()]));
});
afterEach(() => {
  ours.unfreeze();
  for (const store of stores.splice(0)) store.close();
});

async function readClusterId(member: EtcdMember) {
  const answer = await fetch(`${member.clientUrl}/v3/maintenance/status`, { method: "POST", body: "{}" });
  const { header } = (await answer.json()) as { header: { cluster_id: string } };
  return BigInt(header.cluster_id);
}

/** A store over both, that starts with ours. */
async function openBoth(transport: Transport, more: Partial<StoreOptions> = {}) {
  const endpoints = [ours.clientUrl, theirs.clientUrl];
  const store = await open({ endpoints, transport, timeouts: TIMEOUTS, ...more });
  stores.push(store);
  return store;
}

describe.each(TRANSPORTS)("over %s, of two clusters among the endpoints", (transport) => {
  test("the first that answers is believed; the other is refused, by both ids and its address", async () => {
    const store = await openBoth(transport);
    await store.readRange({ key: "a" });
    ours.freeze();
    const { kind, message } = await catchRefusal(store.readRange({ key: "a" }));
    expect(kind).toBe("otherCluster");
    expect(message).toContain(theirs.clientUrl);
    expect(message).toContain(`belongs to cluster ${ids.theirs.toString(16)}`);
    expect(message).toContain(`another endpoint belongs to cluster ${ids.ours.toString(16)}`);
  });

  test("a session is granted by the believed one only; once both have answered, none is granted any more", async () => {
    const store = await openBoth(transport);
    const session = createId();
    await store.grant(session, 60);
    ours.freeze();
    expect((await catchRefusal(store.grant(createId(), 60))).kind).toBe("otherCluster");
    expect(await catchErrorKind(store.renew(session)), "theirs does not say that it is gone").toBe(
      "otherCluster",
    );
    ours.unfreeze();
    expect((await store.renew(session)).ttl, "what is held already is renewed").toBe(60);
    expect((await catchRefusal(store.grant(createId(), 60))).kind).toBe("otherCluster");
  });

  test("a slow answer of the believed one wins over a quick one of the other", async () => {
    const proxy = await FaultProxy.start(ours.clientUrl);
    try {
      const timeouts = { attempt: 60_000, hedge: 100, total: 60_000 };
      const store = await openBoth(transport, { endpoints: [proxy.url, theirs.clientUrl], timeouts });
      await write(store, put("slow", "ours"));
      proxy.delay = 500;
      expect((await store.readRange({ key: "slow" })).kvs.map(({ value }) => value)).toEqual(["ours"]);
    } finally {
      await proxy.close();
    }
  });

  test("a watch is not opened on the other", async () => {
    const store = await openBoth(transport);
    const { revision } = await store.readRange({ key: "a" });
    ours.freeze();
    expect(await catchErrorKind(watchOnce(store, "a", revision + 1n))).toBe("otherCluster");
  });

  test("the configured one is believed, whichever answers first", async () => {
    const store = await openBoth(transport, { clusterId: ids.theirs });
    await write(store, put("b", "theirs"));
    await store.grant(createId(), 60);
    expect((await theirs.runEtcdctl("get", "b", "--print-value-only")).trim()).toBe("theirs");
    expect((await ours.runEtcdctl("get", "b")).trim()).toBe("");
    const found = (await store.readMemberStatuses()).map((one) => one.ok && one.clusterId);
    expect(found, "the status shows all").toEqual([ids.ours, ids.theirs]);
  });

  test("the other gets no write, not even when the believed one does not answer", async () => {
    const store = await openBoth(transport);
    await store.readRange({ key: "c" });
    ours.freeze();
    expect(await catchErrorKind(write(store, put("c", "ours")))).toBe("otherCluster");
    expect((await theirs.runEtcdctl("get", "c")).trim()).toBe("");
  });

  test("the configured one is there, and then away for a while: that is no fault of the configuration", async () => {
    const store = await openBoth(transport, { clusterId: ids.ours });
    await store.readRange({ key: "a" });
    ours.freeze();
    expect(await catchErrorKind(store.readRange({ key: "a" }))).toBe("unavailable");
    ours.unfreeze();
    await store.grant(createId(), 60);
  });
});

test.each(TRANSPORTS)(
  "over %s, a single endpoint of another cluster than the configured one is refused",
  async (transport) => {
    const store = await openBoth(transport, { endpoints: [theirs.clientUrl], clusterId: ids.ours });
    expect(await catchErrorKind(store.readRange({ key: "a" }))).toBe("otherCluster");
  },
);
