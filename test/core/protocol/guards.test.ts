import { describe, expect, test } from "vitest";
import {
  createClaimFixture,
  createHeldTicket,
  dbConfig,
  dbKey,
  find,
  lockKey,
  memConfig,
  OTHER,
  OTHERS,
  put,
  remove,
  SESSION,
} from "../../../fixtures/protocol/claim-fixture.ts";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import type { MemoryEtcd } from "../../../src/core/etcd/memory/memory-store.ts";
import {
  addPutIfChanged,
  buildGrantTxn,
  buildJoinTxn,
  buildTicketClaimTxn,
  guardOwned,
  guardUnchanged,
  type ReadBasis,
  rewriteTickets,
} from "../../../src/core/protocol/guards.ts";
import { type QueueEntry, serializeTicket } from "../../../src/core/protocol/ticket.ts";
import type { Compare, Txn } from "../../../src/core/protocol/txn.ts";

const transactions = {
  claim(basis: ReadBasis) {
    const tickets = [createHeldTicket(lockKey), createHeldTicket(dbKey)];
    const on = { session: SESSION, basis, marked: undefined, reads: [], failure: [] };
    return buildTicketClaimTxn(keys, { locks: ["a"], tickets, ...on });
  },
  join(basis: ReadBasis, entries: readonly QueueEntry[]) {
    const changed = rewriteTickets(entries, { state: "admitted" });
    const on = { session: SESSION, basis, tickets: [createHeldTicket(dbKey)] };
    return buildJoinTxn(keys, { after: entries, changed, ...on });
  },
  grant(basis: ReadBasis, entries: readonly QueueEntry[]) {
    const tickets = rewriteTickets(entries, { state: "held" });
    const on = { session: SESSION, marked: { ttl: 30, term: 2n }, basis, reads: [] };
    return buildGrantTxn(keys, { entries, tickets, ...on });
  },
};
type Name = keyof typeof transactions;
const NAMES = ["claim", "join", "grant"] as const;
const STANDING = { claim: [], join: [lockKey], grant: [lockKey, dbKey] };

/** Whether a transaction goes through on an etcd in which something has happened since the read. */
function isApplied(name: Name, happen: (etcd: MemoryEtcd) => void, groupsMatter = true) {
  const { etcd, basis, entries } = createClaimFixture(STANDING[name]);
  happen(etcd);
  return etcd.apply(transactions[name]({ ...basis, groupsMatter }, entries)).succeeded;
}

const goes = { claim: true, join: true, grant: true };
const refused = { claim: false, join: false, grant: false };
const again = (key: string) => (etcd: MemoryEtcd) => {
  const old = find(etcd, key);
  remove(etcd, key);
  put(etcd, key, serializeTicket(old?.ticket ?? createTicket()), SESSION);
};
const written =
  (key: string, value = "{}") =>
  (etcd: MemoryEtcd) =>
    put(etcd, key, value);
const ticketAt = (key: string) => (etcd: MemoryEtcd) =>
  put(etcd, key, serializeTicket(createTicket()), OTHERS);
const removed = (key: string) => (etcd: MemoryEtcd) => remove(etcd, key);
const reset = (key: string) => (etcd: MemoryEtcd) =>
  put(etcd, key, serializeTicket(createTicket({ reset: { by: "op", at: 1 } })), SESSION);

describe("whether claim, join and grant go through when, since the read,", () => {
  test.each([
    ["nothing has happened", () => {}, goes],
    ["the claim was applied once already", ticketAt(dbKey), { claim: false, join: false }],
    ["the lock's ticket alone is there", ticketAt(lockKey), { claim: false }],
    ["someone stands in the lock's queue", ticketAt(keys.lock("a", OTHER)), { ...goes, claim: false }],
    ["someone stands in the queue of a lock named alike", ticketAt(keys.lock("a/", OTHER)), goes],
    ["someone stands in the resource's queue", ticketAt(keys.resource("db", OTHER)), goes],
    ["the lock was drained", written(keys.drain("lock", "a")), refused],
    ["another lock was drained", written(keys.drain("lock", "b")), refused],
    ["everything was drained", written(keys.drain("all", "all")), refused],
    ["a drain was changed", written(keys.drain("lock", "z")), refused],
    ["a drain was lifted", removed(keys.drain("lock", "z")), goes],
    ["a group was changed", written(keys.group("web")), refused],
    ["a group was made", written(keys.group("new")), refused],
    ["the configuration was changed", written(dbConfig), refused],
    ["the configuration was removed", removed(dbConfig), refused],
    ["the configuration was made again as it was", again(dbConfig), refused],
    ["configuration has come where there was none", written(memConfig), refused],
    ["a later schema version is required", written(keys.schema("0002")), refused],
    ["a schema version far later is required", written(keys.schema("0010")), refused],
    ["a schema version that cannot be read is required", written(keys.schema("next")), refused],
    ["the own schema version is required", written(keys.schema("0001")), goes],
    ["other configuration has come", written(keys.resourceConfig("other")), goes],
    ["a host, a history and an audit were written", written(keys.host("h")), goes],
    ["a reset was asked of the lock", reset(lockKey), { join: false, grant: false }],
    ["a reset was asked of the resource", reset(dbKey), { grant: false }],
    ["the lock's ticket was removed", removed(lockKey), { join: false, grant: false }],
    ["the resource's ticket was removed", removed(dbKey), { grant: false }],
    ["the lock's ticket is gone and another in its place", again(lockKey), { join: false, grant: false }],
    ["the resource's ticket is gone and another in its place", again(dbKey), { grant: false }],
  ])("%s", (_, happen, expected) => {
    const found = NAMES.filter((name) => name in expected).map((name) => [name, isApplied(name, happen)]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  test.each([keys.group("web"), keys.group("new")])(
    "%s was written, where no group decides about drains",
    (key) => {
      for (const name of NAMES) expect(isApplied(name, written(key), false)).toBe(true);
    },
  );

  test.each(["claim", "join"] as const)("the session is gone: %s fails or refuses", (name) => {
    const attempt = () => isApplied(name, (etcd) => etcd.revoke(SESSION));
    if (name === "claim") expect(attempt).toThrow("not found");
    else expect(attempt()).toBe(false);
  });
});

describe("own places,", () => {
  const check = (
    guard: (entries: readonly QueueEntry[]) => Compare[],
    happen: (etcd: MemoryEtcd) => void,
  ) => {
    const { etcd, entries } = createClaimFixture([lockKey, dbKey]);
    happen(etcd);
    return etcd.apply({ compare: guard(entries), success: [], failure: [] }).succeeded;
  };
  test.each([
    ["left alone", () => {}, true, true],
    ["asked for a reset", reset(dbKey), false, true],
    ["removed", removed(dbKey), false, false],
    ["removed and put again", again(dbKey), false, false],
    ["all removed", (etcd) => etcd.revoke(SESSION), false, false],
  ])("%s: untouched %s, ours %s", (_, happen, isUntouched, isOurs) => {
    expect([check(guardUnchanged, happen), check(guardOwned, happen)]).toEqual([isUntouched, isOurs]);
  });
});

describe("a transaction that also stores a text", () => {
  const [key, gate] = [keys.host("h"), keys.group("gate")];
  const txn: Txn = {
    compare: [{ key: gate, target: "create", is: "greater", value: 0n }],
    success: [{ op: "range", key: gate }],
    failure: [{ op: "range", key }],
  };
  test.each([
    // case, whether the comparison holds, stored before, whether the text is written
    ["there was none", true, undefined, true],
    ["there was none, and it fails", false, undefined, true],
    ["there was another", true, "old", true],
    ["there was another, and it fails", false, "old", true],
    ["it is there already", true, "text", false],
    ["it is there already, and it fails", false, "text", false],
  ])("%s", (_, succeeded, before, isWritten) => {
    const { etcd } = createClaimFixture([]);
    if (succeeded) put(etcd, gate, "");
    if (before !== undefined) put(etcd, key, before);
    const { revision } = etcd;
    const answer = etcd.apply(addPutIfChanged(txn, key, "text"));
    expect(answer).toMatchObject({ succeeded, results: [{ op: "range" }, { op: "txn" }] });
    expect(etcd.range({ key }).kvs[0]?.value).toBe("text");
    expect(etcd.revision > revision).toBe(isWritten);
  });
});
