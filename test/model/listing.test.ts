import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inRange } from "../../fixtures/memory-store-keys.ts";
import { listing } from "../../src/model/listing.ts";
import { type Ticket, ticketText } from "../../src/protocol/ticket.ts";
import { anyTicket, bytes, keyOf, keys, meaning, ticketWith } from "../protocol/samples.ts";

const kv = (key: string, value: string, at = 1) => ({
  ...{ key, value, createRevision: BigInt(at), modRevision: BigInt(at), session: 1n },
});
const run = (letter: string) => letter.repeat(16);
const inQueue = (letter: string, ticket: Partial<Ticket>, at: number) =>
  kv(keys.resource("db", run(letter)), ticketText(ticketWith({ total: 10, ...ticket })), at);
const malformed = (letter: string, at: number) => kv(keys.resource("db", run(letter)), '{"count":99}', at);

describe("a row", () => {
  test.each<[string, ReturnType<typeof kv>[], object]>([
    [
      "one that waits",
      [inQueue("a", {}, 1)],
      { state: "waiting", holders: 0, waiters: 1, used: 0, total: 10 },
    ],
    [
      "admitted is not held",
      [inQueue("a", { state: "admitted" }, 1)],
      { state: "waiting", holders: 0, waiters: 1, used: 0, total: 10 },
    ],
    [
      "two hold, one waits",
      [
        inQueue("a", { state: "held", count: 2 }, 1),
        inQueue("b", { state: "held", count: 3 }, 2),
        inQueue("c", {}, 3),
      ],
      { state: "held", holders: 2, waiters: 1, used: 5, total: 10 },
    ],
    [
      "only grace is left",
      [inQueue("a", { state: "grace", count: 2 }, 1), inQueue("b", {}, 2)],
      { state: "grace", holders: 1, waiters: 1, used: 2, total: 10 },
    ],
    [
      "grace and held is held",
      [inQueue("a", { state: "grace" }, 1), inQueue("b", { state: "held" }, 2)],
      { state: "held", holders: 2, waiters: 0, used: 2, total: 10 },
    ],
    [
      "held behind one that waits",
      [inQueue("a", { total: 4 }, 1), inQueue("b", { state: "held", total: 9 }, 2)],
      { state: "held", holders: 1, waiters: 1, used: 1, total: 4 },
    ],
    [
      "malformed",
      [malformed("a", 1)],
      { state: "malformed", holders: 0, waiters: 1, used: 0, total: undefined },
    ],
    [
      "malformed ahead",
      [malformed("a", 1), inQueue("b", { state: "held" }, 2)],
      { state: "malformed", holders: 1, waiters: 1, used: 1, total: undefined },
    ],
    [
      "malformed behind",
      [inQueue("a", { state: "held" }, 1), malformed("b", 2)],
      { state: "held", holders: 1, waiters: 1, used: 1, total: 10 },
    ],
  ])("%s", (_, kvs, expected) => {
    for (const order of [kvs, kvs.toReversed()]) {
      const [row, ...others] = listing(keys, order);
      expect(others).toEqual([]);
      const { holders = [], waiters = [] } = row ?? {};
      const { state, used, total } = row ?? {};
      expect({ state, holders: holders.length, waiters: waiters.length, used, total }).toEqual(expected);
    }
  });

  test("has runs in the order of their claims, each with what is known of it", () => {
    const [row] = listing(keys, [
      malformed("d", 4),
      inQueue("c", { enqueuedAt: 30 }, 3),
      inQueue("b", { state: "held", enqueuedAt: 10, grantedAt: 20, count: 2 }, 2),
      inQueue("a", { state: "held", enqueuedAt: 5 }, 1),
    ]);
    const known = { host: "web1.example.com", pid: 4711, count: 1, isMalformed: false };
    const unknown = { host: undefined, pid: undefined, count: undefined, since: undefined };
    expect(row).toMatchObject({ kind: "resource", name: "db" });
    expect(row?.holders).toEqual([
      { run: run("a"), since: 5, ...known },
      { run: run("b"), since: 20, ...known, count: 2 },
    ]);
    expect(row?.waiters).toEqual([
      { run: run("c"), since: 30, ...known },
      { run: run("d"), ...unknown, isMalformed: true },
    ]);
  });
});

test("locks come first, then resources, each by name; names are read, not shown as in keys", () => {
  const at = [
    keys.resource("b", run("x")),
    keys.resource("a", run("x")),
    keys.lock("b/c", run("x")),
    keys.lock("b", run("x")),
    keys.lock("Z", run("x")),
  ];
  const rows = listing(
    keys,
    at.map((key) => kv(key, ticketText(ticketWith()))),
  );
  expect(rows.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "lock Z",
    "lock b",
    "lock b/c",
    "resource a",
    "resource b",
  ]);
});

test("what was put into a queue by hand is in it, whatever its key says of the run", () => {
  const hand = ["/signalbox/locks/a/by-hand", "/signalbox/locks/a/", "/signalbox/locks/a/b/c"];
  const [row, ...others] = listing(
    keys,
    [...hand, "/signalbox/locks/a", "/signalbox/locks/a%2f/x", "/signalbox/lock/a/x"].map((key) =>
      kv(key, ""),
    ),
  );
  expect(others).toEqual([]);
  expect(row).toMatchObject({ kind: "lock", name: "a", state: "malformed", waiters: { length: 3 } });
});

test("whatever stands in etcd, a row holds what is in its queue's range, and nothing throws", () => {
  const byHand = fc
    .tuple(fc.constantFrom("/signalbox/locks/", "/signalbox/resources/"), bytes)
    .map((two) => two.join(""));
  const key = fc.oneof(meaning.map(keyOf), meaning.map(keyOf), bytes, byHand);
  const value = fc.oneof(anyTicket.map(ticketText), fc.json(), bytes);
  const kvs = fc.uniqueArray(fc.tuple(key, value, fc.nat(9)), { selector: ([one]) => one, maxLength: 20 });
  fc.assert(
    fc.property(kvs, (all) => {
      const rows = listing(
        keys,
        all.map(([one, text, at]) => kv(one, text, at)),
      );
      for (const { kind, name, holders, waiters } of rows) {
        const within = all.filter(([one]) => inRange(one, keys.queue(kind, name)));
        expect(holders.length + waiters.length).toBe(within.length);
        for (const { isMalformed } of holders) expect(isMalformed).toBe(false);
      }
      const names = new Set(rows.map(({ kind, name }) => `${kind} ${name}`));
      expect(names.size).toBe(rows.length);
      for (const what of all.map(([one]) => keys.parse(one)))
        if (what.kind === "lock" || what.kind === "resource")
          expect(names).toContain(`${what.kind} ${what.name}`);
    }),
    { numRuns: 300 },
  );
});
