/** How fast an outdated snapshot is detected. Each fault has its own proxy. */

import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";
import { Observer } from "./observers.ts";

let etcd: EtcdMember;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd?.stop());

/** When silence is known for what it is, ms: after some three seconds, and this on a busy machine. */
const SOON = 6_000;

const isAway = ({ kind }: { kind: string }) => kind === "away";
const isRead = ({ kind }: { kind: string }) => kind === "read";

/** Somebody who follows through a proxy and has been told a change already: the watch runs. */
async function followThroughProxy(context: TestContext, transport: "http" | "grpc") {
  const proxy = await FaultProxy.start(etcd.clientUrl);
  context.onTestFinished(() => proxy.close());
  const observer = await Observer.connect(context, [proxy.url], { transport });
  const writer = await Observer.connect(context, [etcd.clientUrl]);
  const group = async (name: string) => {
    const put = { op: "put" as const, key: writer.ports.keys.group(name), value: '["a"]' };
    await writer.store.commitTxn({ compare: [], success: [put], failure: [] });
    await waitUntil(`group ${name} is seen`, () => observer.fold.getSnapshot().groups.has(name));
  };
  const told = await observer.follow();
  await group(`first ${proxy.port}`);
  return { proxy, observer, told, group };
}

describe.concurrent.each(TRANSPORTS)("over %s, who follows etcd", (transport) => {
  it("is told soon that it refuses connections, and reads again when it is back", async (context) => {
    const { proxy, told } = await followThroughProxy(context, transport);
    const away = told.waitForNext(isAway);
    proxy.mode = "refuse";
    proxy.reset();
    context.expect((await away).ms).toBeLessThan(3_000);
    const read = told.waitForNext(isRead);
    proxy.mode = "forward";
    await read;
  });

  it("is told nothing at once of a watch that broke: it may run again as soon", async (context) => {
    const { proxy, told } = await followThroughProxy(context, transport);
    const start = told.now;
    const read = told.waitForNext(isRead);
    proxy.reset();
    await read;
    // Where reading takes longer, that is said.
    context.expect(told.list.filter((one) => isAway(one) && one.after < start + 400)).toEqual([]);
  });

  it("is told of connections that nothing comes through any more, old or new", async (context) => {
    const { proxy, told } = await followThroughProxy(context, transport);
    const away = told.waitForNext(isAway);
    proxy.mode = "drop";
    context.expect((await away).ms).toBeLessThan(SOON);
    const read = told.waitForNext(isRead);
    proxy.mode = "forward";
    await read;
  });

  it("sees what happens although its watch has died in silence", async (context) => {
    const { proxy, told, group } = await followThroughProxy(context, transport);
    const start = told.now;
    proxy.strand();
    await group(`seen over ${transport}`);
    context.expect(told.now - start).toBeLessThan(SOON);
  });
});

describe.each(TRANSPORTS)("over %s, a watch that has lost a change", (transport) => {
  it("is found out, and everything is read again", async (context) => {
    const proxy = await FaultProxy.start(etcd.clientUrl);
    context.onTestFinished(() => proxy.close());
    const observer = await Observer.connect(context, [proxy.url], { transport });
    const { clock, keys } = observer.ports;
    // Comparisons are minutes apart.
    const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms >= 5_000 ? 500 : ms, signal);
    observer.ports.clock = { now: () => clock.now(), getWallTime: () => clock.getWallTime(), sleep };
    const told = await observer.follow();
    const writer = await Observer.connect(context, [etcd.clientUrl]);
    const write = (op: Op) => writer.store.commitTxn({ compare: [], success: [op], failure: [] });
    const has = (name: string) => observer.fold.getSnapshot().groups.has(name);

    for (const change of ["put", "delete"] as const) {
      const name = `lost-${transport}`;
      const key = keys.group(name);
      const isLost = proxy.loseAnswer(new RegExp(`${key}|${Buffer.from(key).toString("base64")}`));
      const read = told.waitForNext(isRead);
      await write(change === "put" ? { op: "put", key, value: '["a"]' } : { op: "delete", key });
      await isLost;
      const next = `after ${change} over ${transport}`;
      await write({ op: "put", key: keys.group(next), value: '["a"]' });
      await waitUntil("the watch goes on", () => has(next));
      context.expect(has(name), "the watch has lost it").toBe(change === "delete");
      context.expect(await read).toMatchObject({ lost: [key] });
      context.expect(has(name)).toBe(change === "put");
    }
    context.expect(told.list.filter(isAway)).toEqual([]);
  });
});

describe.concurrent("the heartbeat", () => {
  it("is silence where everything is swallowed on the way", async (context) => {
    const proxy = await FaultProxy.start(etcd.clientUrl);
    context.onTestFinished(() => proxy.close());
    const beats = (await Observer.connect(context, [proxy.url])).beats();
    await beats.waitForNext(({ kind }) => kind === "answer");
    const silence = beats.waitForNext(({ kind }) => kind === "silence");
    proxy.mode = "drop";
    context.expect((await silence).ms).toBeLessThan(SOON);
    const answer = beats.waitForNext(({ kind }) => kind === "answer");
    proxy.mode = "forward";
    await answer;
  });
});

describe("who follows etcd", () => {
  it("is told that it is frozen, though connections stand", async (context) => {
    const told = await (await Observer.connect(context, [etcd.clientUrl])).follow();
    const away = told.waitForNext(isAway);
    etcd.freeze();
    context.onTestFinished(() => etcd.unfreeze());
    expect((await away).ms).toBeLessThan(SOON);
    const read = told.waitForNext(isRead);
    etcd.unfreeze();
    await read;
  });
});
