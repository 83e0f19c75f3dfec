/** What an agent writes about itself: seldom, on a session of its own, and never to the fence. */

import { expect, onTestFinished, test, vi } from "vitest";
import { keys } from "../../fixtures/protocol/samples.ts";
import { keepAgentReport } from "../../src/agent/agent.impl.ts";
import { type AgentContext, AgentStatistics } from "../../src/agent/agent-context.ts";
import { toMonotonicTime } from "../../src/core/base/clock.ts";
import { MemoryStore } from "../../src/core/etcd/memory/memory-store.ts";
import { SessionLost } from "../../src/core/etcd/session/session.ts";
import { parseAgentReport } from "../../src/core/protocol/agent-record.ts";
import type { Txn } from "../../src/core/protocol/txn.ts";

const INCARNATION = "a".repeat(16);
const KEY = keys.agentReport("web1.example.com", INCARNATION);

/** An agent with sessions, whose clock waits for `tick`. */
async function startReporter(live: bigint[]) {
  const store = MemoryStore.create({ now: () => toMonotonicTime(0) });
  for (const id of [1n, 2n]) await store.grant(id, 30);
  const statistics = new AgentStatistics(1_700_000_000_000);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let wake = () => {};
  let slept: (ms: number) => void = () => {};
  const commitTxn = vi.fn((txn: Txn) => store.commitTxn(txn));
  const sessions = {
    listLive: () => live.map((id) => ({ session: { id }, store: { commitTxn } })),
    keepOpen: async () => {},
  };
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      slept(ms);
    });
  const context = {
    sessions,
    statistics,
    keys,
    facts: { fqdn: "web1.example.com" },
    incarnation: INCARNATION,
    clock: { sleep, now: () => 0 },
    log: { info: () => {} },
    settings: { ttl: 30_000 },
  } as unknown as AgentContext;
  const pause = () => new Promise<number>((resolve) => (slept = resolve));
  const first = pause();
  void keepAgentReport(context, stop.signal);
  const interval = await first;
  const read = async () => (await store.readRange({ key: KEY })).kvs[0];
  const tick = async () => {
    const next = pause();
    wake();
    await next;
  };
  return { statistics, commitTxn, read, tick, interval };
}

test("it is written at the start, and then once a minute if it has changed", async () => {
  const { statistics, commitTxn, read, tick, interval } = await startReporter([1n]);
  expect(interval).toBe(60_000);
  expect(parseAgentReport((await read())?.value ?? "")).toMatchObject({ served: 0, declined: {} });
  await tick();
  expect(commitTxn).toHaveBeenCalledTimes(1);
  statistics.served += 1;
  statistics.countDeclined("settings");
  statistics.countDeclined("settings");
  await tick();
  expect(parseAgentReport((await read())?.value ?? "")).toMatchObject({
    served: 1,
    declined: { settings: 2 },
  });
  expect(commitTxn).toHaveBeenCalledTimes(2);
});

test("it moves to another session when its own is over, and is not written without one", async () => {
  const live = [1n];
  const { commitTxn, read, tick } = await startReporter(live);
  expect((await read())?.session).toBe(1n);
  live.splice(0, 1, 2n);
  await tick();
  expect((await read())?.session).toBe(2n);
  live.pop();
  await tick();
  expect(commitTxn).toHaveBeenCalledTimes(2);
});

test("it is written again after a write that failed", async () => {
  const { statistics, commitTxn, read, tick } = await startReporter([1n]);
  statistics.served += 1;
  commitTxn.mockRejectedValueOnce(new SessionLost("moved", "another agent"));
  await tick();
  await tick();
  expect(parseAgentReport((await read())?.value ?? "")).toMatchObject({ served: 1 });
});
