/** Which sessions are those of agents, and how long they last. */

import { expect, test } from "vitest";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";
import {
  type RunnerKey,
  readRunnerLiveness,
  selectFirstSessions,
} from "../../../src/site/observe/runner-liveness.ts";

const [OWN, SHARED, GONE] = [1n, 2n, 3n];
const HOST = "web1.example.com";

async function createStore() {
  const store = MemoryStore.create({ now: () => toMonotonicTime(0) });
  for (const id of [OWN, SHARED]) await store.grant(id, 30);
  const put = { op: "put" as const, key: keys.agentSession(HOST, SHARED), value: "{}", session: SHARED };
  await store.commitTxn({ compare: [], success: [put], failure: [] });
  return store;
}

const keyOf = (session: bigint, ticket?: Partial<Ticket>): RunnerKey => ({
  session,
  ticket: ticket && createTicket({ host: HOST, ...ticket }),
});
const CALL = { call: "c".repeat(16) };

test("a session is an agent's if the agent's key is on it, also if the run names its host otherwise", async () => {
  const store = await createStore();
  for (const [key, isShared] of [
    [keyOf(OWN, {}), false],
    [keyOf(OWN, CALL), false], // a launcher's run that fell back
    [keyOf(SHARED, CALL), true],
    [keyOf(SHARED, { ...CALL, host: "another.example.com" }), true],
  ] as const) {
    const found = await readRunnerLiveness({ store, keys }, [key]);
    expect(found.get(key.session)).toMatchObject({ ttl: 30, isShared });
  }
});

test("a session that is gone is gone, and that of a worker is its own", async () => {
  const store = await createStore();
  const found = await readRunnerLiveness({ store, keys }, [keyOf(GONE, CALL), keyOf(OWN)]);
  expect(found.get(GONE)).toBeUndefined();
  expect(found.get(OWN)).toMatchObject({ isShared: false });
});

test("where the agent's key cannot be read, a session proves nothing about the run", async () => {
  const store = await createStore();
  store.readRange = async () => {
    throw new StoreError("permission", "no");
  };
  const found = await readRunnerLiveness({ store, keys }, [keyOf(OWN, CALL)]);
  expect(found.get(OWN)).toMatchObject({ isShared: true });
});

test("of each session one key is selected, and at most a number", () => {
  const all = [keyOf(0n), keyOf(OWN), keyOf(OWN, CALL), keyOf(SHARED), keyOf(GONE)];
  expect(selectFirstSessions(all, 2)).toEqual([keyOf(OWN), keyOf(SHARED)]);
});
