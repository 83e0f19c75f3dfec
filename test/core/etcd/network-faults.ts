/** A store behind a proxy with network faults, with both transports. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import {
  catchErrorKind,
  catchRefusal,
  compareAbsent,
  put,
  watchOnce,
  write,
} from "../../../fixtures/etcd/store-calls.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { buildPrefixRange } from "../../../src/core/protocol/txn.ts";
import {
  ANYTHING,
  AT_ONCE,
  createId,
  createKey,
  measureCall,
  NEVER,
  startWatch,
  waitForCondition,
} from "./faults-helpers.ts";

export function testNetworkFaults(transport: Transport): void {
  describe(`${transport} over a bad network`, () => {
    let etcd: EtcdMember;
    let proxy: FaultProxy;
    let store: Store;
    /** A store that does not go through the proxy. */
    let direct: Store;
    beforeAll(async () => {
      etcd = await startEtcd();
      direct = await open({ endpoints: etcd.endpoints, transport });
    });
    afterAll(async () => {
      direct?.close();
      await etcd?.stop();
    });
    beforeEach(async () => {
      proxy = await FaultProxy.start(etcd.clientUrl);
      store = await openThrough({ attempt: 250, hedge: 100, total: 700 });
      await waitForAnswer();
    });
    const stores: Store[] = [];
    afterEach(async () => {
      for (const one of stores.splice(0)) one.close();
      await proxy.close();
    });
    const openThrough = async (timeouts: NonNullable<StoreOptions["timeouts"]>, others: string[] = []) => {
      const opened = await open({ endpoints: [proxy.address, ...others], transport, timeouts });
      stores.push(opened);
      return opened;
    };
    /** A store that turns to etcd itself when the proxy fails it. */
    const openBoth = (timeouts: NonNullable<StoreOptions["timeouts"]>) =>
      openThrough(timeouts, [etcd.clientUrl]);

    /** Resolves once the store has had an answer: on a busy machine not every call has one in time. */
    const waitForAnswer = () =>
      waitForCondition(() =>
        store.readRange({ key: "a" }).then(
          () => true,
          () => false,
        ),
      );
    /** A store whose calls are repeated only when their connection breaks. */
    const PATIENT = { attempt: NEVER, hedge: NEVER, total: NEVER };
    const openPatient = async () => {
      const patient = await openThrough(PATIENT);
      await patient.readRange({ key: "warm up" });
      return patient;
    };
    const isGone = (id: bigint) =>
      direct.renew(id).then(
        () => false,
        () => true,
      );

    it("repeats a transaction whose answer was lost; the comparison then fails on what it wrote itself", async () => {
      const patient = await openPatient();
      const key = createKey();
      const lost = proxy.swallowAnswerTo(ANYTHING, () =>
        waitForCondition(async () => (await direct.readRange({ key })).count === 1),
      );
      const answer = await patient.commitTxn({
        compare: [compareAbsent(key)],
        success: [put(key, "mine")],
        failure: [{ op: "range", key }],
      });
      await lost;
      expect(answer.succeeded).toBe(false);
      expect(answer.results).toMatchObject([{ kvs: [{ value: "mine", createRevision: answer.revision }] }]);
    });

    it("finds the session there when the answer to its grant was lost, and may revoke it twice", async () => {
      const patient = await openThrough(PATIENT);
      await patient.readTimeToLive(createId()); // opens the connection that calls of sessions use
      const id = createId();
      const lost = proxy.swallowAnswerTo(ANYTHING, () => waitForCondition(async () => !(await isGone(id))));
      expect(await catchErrorKind(patient.grant(id, 30))).toBe("exists");
      await lost;
      expect((await patient.renew(id)).ttl).toBe(30);
      const again = proxy.swallowAnswerTo(ANYTHING, () => waitForCondition(() => isGone(id)));
      await patient.revoke(id);
      await again;
      expect(await catchErrorKind(patient.renew(id))).toBe("noSession");
    });

    it("renews although an answer was lost", async () => {
      const patient = await openThrough(PATIENT);
      const id = createId();
      await patient.grant(id, 30);
      const lost = proxy.swallowAnswerTo(ANYTHING);
      expect((await patient.renew(id)).ttl).toBe(30);
      await lost;
    });

    it("goes on at once, on a new connection, when its connection was reset while it was idle", async () => {
      const patient = await openPatient();
      proxy.reset();
      expect(await measureCall(write(patient, put(createKey())))).toBeLessThan(AT_ONCE);
    });

    it("asks for the status again when its connection was reset while it was idle", async () => {
      const patient = await openThrough(PATIENT);
      expect(await patient.readMemberStatuses()).toMatchObject([{ ok: true }]);
      proxy.reset();
      expect(await patient.readMemberStatuses()).toMatchObject([{ ok: true }]);
      proxy.mode = "drop";
      expect(await store.readMemberStatuses()).toMatchObject([{ ok: false, error: { kind: "unavailable" } }]);
    });

    it("needs only a second attempt when its connection has silently died", async () => {
      const patient = await openThrough({ ...PATIENT, attempt: 500 });
      await patient.readRange({ key: "warm up" });
      proxy.strand();
      expect(await measureCall(write(patient, put(createKey())))).toBeLessThan(AT_ONCE);
    });

    it.each(["drop", "drop-requests", "drop-answers"] as const)(
      "says unavailable in time when the network swallows (%s), and recovers",
      async (mode) => {
        proxy.mode = mode;
        const since = performance.now();
        const refused = catchErrorKind(store.readRange({ key: "a" }));
        const awake = await measureCall(refused);
        expect(await refused).toBe("unavailable");
        expect(performance.now() - since).toBeGreaterThan(600);
        expect(awake).toBeLessThan(4_000);
        proxy.mode = "forward";
        await waitForAnswer();
      },
    );

    it("says unavailable, and why, when every connection is refused", async () => {
      proxy.mode = "refuse";
      proxy.reset();
      const error = await catchRefusal(store.readRange({ key: "a" }));
      expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining(proxy.address) });
    });

    it("reads again when an answer is cut in the middle", async () => {
      const at = createKey();
      for (let i = 0; i < 3; i += 1) await write(direct, put(`${at}/${i}`, "0123456789".repeat(50_000)));
      proxy.cutAfter = 700_000;
      const patient = await openThrough(PATIENT);
      const { kvs } = await patient.readRange(buildPrefixRange(`${at}/`));
      expect(kvs.map(({ value }) => value.length)).toEqual([500_000, 500_000, 500_000]);
    });

    it("uses whichever answer comes when all are slow", async () => {
      const slow = await openThrough({ attempt: 10_000, hedge: 50, total: 20_000 });
      proxy.delay = 300;
      const key = createKey();
      await write(slow, put(key, "v"));
      expect((await slow.readRange({ key })).kvs[0]?.value).toBe("v");
    });

    it("turns to the next endpoint at once when one is refused, and stays there", async () => {
      proxy.mode = "refuse";
      const two = await openBoth(PATIENT);
      expect(await measureCall(two.readRange({ key: "a" }))).toBeLessThan(AT_ONCE);
      proxy.mode = "drop"; // who asked there would wait for ever
      expect(await measureCall(two.readRange({ key: "a" }))).toBeLessThan(AT_ONCE);
    });

    it("breaks a watch whose connection is reset", async () => {
      const watch = await startWatch(store, direct);
      const next = catchErrorKind(watch.next());
      proxy.reset();
      expect(await next).toBe("unavailable");
    });

    it("breaks a watch whose connection has silently died, without a call", async () => {
      const wary = await openThrough({ probe: 100 });
      const watch = await startWatch(wary, direct);
      const next = catchErrorKind(watch.next());
      await new Promise((resolve) => setTimeout(resolve, 300)); // probes are answered meanwhile
      proxy.strand();
      expect(await next).toBe("unavailable");
    });

    it("breaks a watch on a member that let a call hang", async () => {
      const two = await openBoth({ ...PATIENT, hedge: 100 });
      const watch = await startWatch(two, direct);
      const next = catchErrorKind(watch.next());
      proxy.mode = "drop";
      await two.readRange({ key: "a" });
      expect(await next).toBe("unavailable");
    });

    it("opens a watch elsewhere when one endpoint swallows it", async () => {
      const two = await openBoth({ ...PATIENT, hedge: 100 });
      proxy.mode = "drop";
      await startWatch(two, direct);
    });

    it("cannot open a watch for ever", async () => {
      proxy.mode = "drop";
      expect(await catchErrorKind(watchOnce(store, "a", 1n))).toBe("unavailable");
    });

    it("frees every connection: of a watch when it ends, all when the store closes", async () => {
      const before = proxy.open;
      const stop = new AbortController();
      const watch = await startWatch(store, direct, stop);
      const ended = watch.next().catch((error: unknown) => error);
      stop.abort(new Error("enough"));
      expect(await ended).toBe(stop.signal.reason);
      if (transport === "http")
        while (proxy.open > before) await new Promise((resolve) => setTimeout(resolve, 5));
      store.close();
      await proxy.waitUntilDrained();
    });

    it("gives up a call at once when its signal is aborted", async () => {
      proxy.mode = "drop";
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error("enough")), 50);
      const call = store.commitTxn({ compare: [], success: [], failure: [] }, stop.signal);
      await expect(call).rejects.toThrow("enough");
    });
  });
}
