import { describe, expect, test } from "vitest";
import {
  createClaimFixture,
  createHeldTicket,
  dbConfig,
  dbKey,
  find,
  lockKey,
  OTHER,
  OTHERS,
  OWN,
  put,
  remove,
  SESSION,
} from "../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, EMPTY_BASIS, keys } from "../../../fixtures/protocol/samples.ts";
import type { MemoryEtcd } from "../../../src/core/etcd/memory/memory-store.ts";
import {
  buildGrantTxn,
  buildJoinTxn,
  buildTicketClaimTxn,
  rewriteTickets,
} from "../../../src/core/protocol/guards.ts";
import {
  type QueueEntry,
  serializeTicket,
  toQueue,
  toQueueEntry,
} from "../../../src/core/protocol/ticket.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

describe("a claim from which nothing was read", () => {
  const claim = (etcd: MemoryEtcd, ...locks: string[]) =>
    etcd.apply(
      buildTicketClaimTxn(keys, {
        locks,
        tickets: [createHeldTicket(lockKey), createHeldTicket(dbKey)],
        session: SESSION,
        basis: EMPTY_BASIS,
        marked: undefined,
        reads: [{ op: "range", key: dbConfig }],
        failure: [{ op: "range", key: dbKey }],
      }),
    );
  const empty = (key?: string) => {
    const { etcd } = createClaimFixture([]);
    remove(etcd, keys.drain("lock", "z"));
    if (key !== undefined) put(etcd, key, "{}");
    return etcd;
  };

  test("puts every ticket on the session, with one create_revision, and reads what it was told to", () => {
    const etcd = empty();
    const answer = claim(etcd, "a");
    expect(answer).toMatchObject({ succeeded: true });
    expect(answer.results.at(-1)).toMatchObject({ op: "range", count: 1 });
    const expected = { createRevision: etcd.revision, session: SESSION, ticket: { run: OWN, state: "held" } };
    for (const key of [lockKey, dbKey]) expect(find(etcd, key)).toMatchObject(expected);
  });

  test("repeated, refuses and reads its own tickets", () => {
    const etcd = empty();
    claim(etcd, "a");
    expect(claim(etcd, "a")).toMatchObject({ succeeded: false, results: [{ count: 1 }] });
    expect(claim(etcd)).toMatchObject({ succeeded: false });
  });

  test.each([
    ["any drain", keys.drain("host", "elsewhere"), false],
    ["a group", keys.group("new"), true],
    ["somebody's lock of another name", keys.lock("b", OTHER), true],
  ])("with %s there, goes through: %s %s", (_, key, expected) => {
    expect(claim(empty(key), "a").succeeded).toBe(expected);
  });

  test("without a lock, does not ask who queues for one", () => {
    expect(claim(empty(keys.lock("a", OTHER))).succeeded).toBe(true);
  });
});

test("a grant keeps key, create_revision and session, changes the state alone, and puts marks without a session", () => {
  const { etcd, basis, entries: places } = createClaimFixture([lockKey, dbKey]);
  const malformed = { ...(places[0] as QueueEntry), ticket: undefined };
  const tickets = rewriteTickets([...places, malformed], { state: "held", grantedAt: 5 });
  const reads: Op[] = [{ op: "range", key: dbConfig }];
  const marked = { ttl: 30, term: 2n };
  const on = { entries: places, session: SESSION, basis };
  const answer = etcd.apply(buildGrantTxn(keys, { ...on, tickets, marked, reads }));
  expect(answer.results.at(-1)).toMatchObject({ op: "range", count: 1 });
  for (const { key, createRevision, ticket } of places) {
    const [kv] = etcd.range({ key: keys.mark(key) }).kvs;
    expect(kv).toMatchObject({ session: 0n });
    const vanished = { createRevision, ticket: { state: "held" }, vanished: marked };
    expect(toQueue(kv ? [kv] : [])).toMatchObject([vanished]);
    const expected = { createRevision, session: SESSION, ticket: { ...ticket, state: "held", grantedAt: 5 } };
    expect(find(etcd, key)).toMatchObject(expected);
  }
});

test("who joins a queue stands behind those who are there, and marks where it stands already", () => {
  const { etcd, basis, entries: places } = createClaimFixture([lockKey]);
  put(etcd, keys.resource("db", OTHER), serializeTicket(createTicket()), OTHERS);
  const changed = rewriteTickets(places, { state: "admitted" });
  const on = { after: places, session: SESSION, basis };
  etcd.apply(buildJoinTxn(keys, { ...on, tickets: [createHeldTicket(dbKey)], changed }));
  const queue = etcd.range({
    ...keys.getQueueRange("resource", "db"),
    sort: { by: "create", order: "ascend" },
  });
  expect(queue.kvs.map(toQueueEntry).map(({ run }) => run)).toEqual([OTHER, OWN]);
  const [before] = places;
  expect(find(etcd, lockKey)).toMatchObject({
    createRevision: before?.createRevision,
    modRevision: etcd.revision,
    session: SESSION,
    ticket: { ...before?.ticket, state: "admitted" },
  });
});
