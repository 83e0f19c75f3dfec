import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  anyTicket,
  bytes,
  createTicket,
  generateText,
  keys,
  runId,
} from "../../../fixtures/protocol/samples.ts";
import {
  parseTicket,
  serializeTicket,
  TICKET_STATES,
  type Ticket,
  toQueue,
  toQueueEntry,
} from "../../../src/core/protocol/ticket.ts";

const kv = (key: string, createRevision: bigint, value: string) => ({
  key,
  value,
  createRevision,
  modRevision: createRevision + 5n,
  session: 7n,
});

describe("a ticket's text", () => {
  test("is read back as it was written", () => {
    fc.assert(
      fc.property(anyTicket, (ticket) => {
        expect(parseTicket(serializeTicket(ticket))).toEqual({ v: 1, ...ticket });
      }),
    );
  });

  test("may hold fields of later versions, which pass", () => {
    fc.assert(
      fc.property(anyTicket, fc.jsonValue(), (ticket, later) => {
        const text = JSON.stringify({ v: 1, ...ticket, later });
        expect(parseTicket(text)).toEqual({ ...JSON.parse(text) });
      }),
    );
  });
});

describe("what is no ticket", () => {
  test.each([
    "",
    "{",
    "null",
    "true",
    "4",
    '"held"',
    "[]",
    "{}",
    '{"v":1}',
    `[${serializeTicket(createTicket())}]`,
  ])("%j is malformed", (text) => {
    expect(parseTicket(text)).toBeUndefined();
  });

  test.each([
    ["v", [undefined, 2, "1", 0]],
    ["run", [undefined, null, 4, "x".repeat(70_000)]],
    ["host", [undefined, null, {}, 4]],
    ["user", [undefined, null, []]],
    ["command", [undefined, null, false, "x".repeat(70_000)]],
    ["pid", [undefined, null, "4", 1.5, 1e300]],
    ["count", [undefined, null, 0, -1, 1.5, "1", 2 ** 53, true]],
    ["total", [undefined, null, 0, -1, 1.5, "1", 2 ** 53, [1]]],
    ["state", [undefined, null, "HELD", "", "reset", 0, "toString"]],
    ["enqueuedAt", [undefined, null, "0", 8.65e15, -8.65e15]],
    ["grantedAt", [null, "0", 8.65e15, {}]],
    ["until", [null, "0", 8.65e15, true]],
    ["label", [null, 4, ["a"], "x".repeat(70_000)]],
    ["args", [null, "a", [4], {}, [null]]],
    ["reset", [null, true, "op", [], {}, { by: "op" }, { at: 1 }, { by: 4, at: 1 }, { by: "op", at: "1" }]],
    [
      "reset",
      [
        { by: "op", at: 1, why: 4 },
        { by: "op", at: 9e15 },
      ],
    ],
  ])("%s as one of %j makes it malformed", (field, values) => {
    for (const value of values) {
      expect(
        parseTicket(JSON.stringify({ v: 1, ...createTicket({ until: 5 }), [field]: value })),
      ).toBeUndefined();
    }
  });

  test("any text or JSON gives a ticket that all can rely on, or none, and never throws", () => {
    const changed = fc
      .tuple(anyTicket, fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), fc.double(), fc.string()))
      .map(([ticket, field, value]) => JSON.stringify({ v: 1, ...ticket, [field]: value }));
    const text = fc.oneof(fc.json(), generateText(), bytes, changed);
    fc.assert(
      fc.property(text, (value) => {
        const ticket = parseTicket(value);
        if (ticket !== undefined) expectSound(ticket);
      }),
      { numRuns: 2_000 },
    );
  });
});

const fields = [
  "run",
  "host",
  "pid",
  "user",
  "count",
  "total",
  "state",
  "command",
  "enqueuedAt",
  "label",
  "until",
];

function expectSound(ticket: Ticket) {
  expect(Number.isSafeInteger(ticket.count) && ticket.count > 0).toBe(true);
  expect(Number.isSafeInteger(ticket.total) && ticket.total > 0).toBe(true);
  expect(TICKET_STATES).toContain(ticket.state);
  for (const text of [ticket.run, ticket.host, ticket.user, ticket.command, ticket.label ?? ""])
    expect(typeof text).toBe("string");
  for (const at of [ticket.enqueuedAt, ticket.until ?? 0, ticket.grantedAt ?? 0])
    expect(() => new Date(at).toISOString()).not.toThrow();
}

describe("a place", () => {
  test("is that of its key, not of the ticket in it", () => {
    const key = keys.lock("a", "0123456789abcdef");
    const other = createTicket({ run: "another" });
    expect(toQueueEntry(kv(key, 3n, serializeTicket(other)))).toEqual({
      key,
      run: "0123456789abcdef",
      ticket: { v: 1, ...other },
      createRevision: 3n,
      modRevision: 8n,
      session: 7n,
    });
  });

  test("with a malformed value has no ticket, and still stands in the queue", () => {
    const entries = toQueue([
      kv(keys.lock("a", "b".repeat(16)), 4n, "{}"),
      kv(keys.lock("a", "c".repeat(16)), 3n, ""),
    ]);
    expect(entries.map(({ run, ticket }) => [run[0], ticket])).toEqual([
      ["c", undefined],
      ["b", undefined],
    ]);
  });

  test("comes after those claimed before it, independent of how they were read", () => {
    const claims = fc.uniqueArray(fc.tuple(runId, fc.bigInt({ min: 1n, max: 2n ** 62n })), {
      selector: ([run]) => run,
    });
    fc.assert(
      fc.property(claims, (all) => {
        const queue = toQueue(all.map(([run, at]) => kv(keys.lock("a", run), at, "")));
        expect(queue.map(({ run }) => run).toSorted()).toEqual(all.map(([run]) => run).toSorted());
        for (const [index, entry] of queue.slice(1).entries()) {
          const before = queue[index];
          expect(before && before.createRevision <= entry.createRevision).toBe(true);
        }
      }),
    );
  });

  test("of the same claim has its place by key, the same for every reader", () => {
    const [b, a] = ["b", "a"].map((letter) => kv(keys.lock("q", letter.repeat(16)), 9n, "")) as [
      ReturnType<typeof kv>,
      ReturnType<typeof kv>,
    ];
    expect(toQueue([b, a])).toEqual(toQueue([a, b]));
  });
});
