/** Previews of resets, as tables of snapshots. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createKeyValue,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
  waiting,
} from "../../../fixtures/state/sample-snapshots.ts";
import { describeQueueChanges, formatEvictionPreview } from "../../../src/cli/views/claims.ts";
import { admit } from "../../../src/core/protocol/admission.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";
import { serializeTicket, type Ticket, toQueue } from "../../../src/core/protocol/ticket.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import {
  buildClaims,
  findClaim,
  findClaimsByWord,
  findResetTargets,
  isHolder,
} from "../../../src/site/state/claims.ts";
import { previewEviction } from "../../../src/site/state/eviction-preview.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";

const nextOf = (snapshot: Snapshot, ...letters: string[]) =>
  previewEviction(snapshot, new Set(letters.map(toRunId)), NOW).next.map(({ claim }) => claim.run[0]);

describe("who is next when a run is reset", () => {
  const lock = [
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock x", "b", 2, waiting),
    createTicketKey("lock x", "c", 3, waiting),
  ];
  const db = (count: number, state: Ticket["state"] = "waiting") => ({ count, total: 10, state });

  it.each([
    ["the second, when both ahead go", lock, ["a", "b"], ["c"]],
    [
      "nobody, when the next still waits in another queue",
      [
        createTicketKey("resource db", "a", 1, db(10, "held")),
        createTicketKey("resource web", "b", 2, { count: 1, total: 1, state: "held" }),
        createTicketKey("resource db", "c", 3, db(1)),
        createTicketKey("resource web", "c", 3, { count: 1, total: 1, state: "waiting" }),
      ],
      ["a"],
      [],
    ],
    [
      "by the total that operators set",
      [
        createKeyValue(keys.resourceConfig("db"), '{"v":1,"total":"4"}'),
        createTicketKey("resource db", "a", 1, db(4, "held")),
        createTicketKey("resource db", "b", 2, db(3)),
        createTicketKey("resource db", "c", 3, db(2)),
      ],
      ["a"],
      ["b"],
    ],
  ])("is $0", (_, kvs, evict, next) => {
    expect(nextOf(createSnapshot(kvs), ...evict)).toEqual(next);
  });

  it("names the drain that stops them all the same, unless it has ended", () => {
    const drained = (until?: number) =>
      createSnapshot([
        ...lock,
        createKeyValue(
          keys.drain("host", "b.example.com"),
          serializeDrain({ by: "ann", at: 1, why: "disks", ...(until && { until }) }),
        ),
      ]);
    const [upcoming] = previewEviction(drained(), new Set([toRunId("a")]), NOW).next;
    expect(upcoming?.drains.map(({ by }) => by)).toEqual(["ann"]);
    expect(previewEviction(drained(NOW - 1), new Set([toRunId("a")]), NOW).next[0]?.drains).toEqual([]);
    expect(formatEvictionPreview(previewEviction(drained(), new Set([toRunId("a")]), NOW), NOW)).toEqual([
      "ends  a.example.com:4711 (invoices.sh), holds lock x, for 1m",
      "next  b.example.com:4711 (invoices.sh), waits for lock x, for 1m40s; but host b.example.com is drained by ann: disks",
    ]);
  });

  it("is exactly who is admitted without them and was not with them", () => {
    const tickets = fc.array(fc.record({ count: fc.integer({ min: 1, max: 5 }), isHeld: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(tickets, fc.nat(), (wishes, pick) => {
        const kvs = wishes.map(({ count, isHeld }, index) =>
          createTicketKey("resource db", "abcdefgh"[index] ?? "z", index + 1, {
            count,
            total: 6,
            state: isHeld ? "held" : "waiting",
          }),
        );
        const gone = kvs[pick % kvs.length];
        const rest = toQueue(kvs.filter((kv) => kv !== gone));
        const isReady = (run: string, queue: typeof rest) => admit(queue, run).kind === "admitted";
        const expected = rest.filter(
          ({ run, ticket }) =>
            ticket?.state === "waiting" && isReady(run, rest) && !isReady(run, toQueue(kvs)),
        );
        const letter = gone?.key.at(-1) ?? "";
        expect(nextOf(createSnapshot(kvs), letter)).toEqual(expected.map(({ run }) => run[0]));
      }),
    );
  });

  it("counts the units that become free over all queues of the run", () => {
    const snapshot = createSnapshot([
      createTicketKey("lock x", "a", 1, held),
      createTicketKey("resource db", "a", 2, { ...held, count: 3 }),
    ]);
    expect(previewEviction(snapshot, new Set([toRunId("a")]), NOW).freed).toEqual([
      { kind: "lock", name: "x", units: 1 },
      { kind: "resource", name: "db", units: 3 },
    ]);
  });

  it("counts a lock that runs share once, when the last of them goes", () => {
    const snapshot = createSnapshot([
      createTicketKey("lock x", "a", 1, { ...held, shared: true }),
      createTicketKey("lock x", "b", 2, { ...held, shared: true }),
    ]);
    expect(previewEviction(snapshot, new Set([toRunId("a")]), NOW).freed).toEqual([]);
    const all = previewEviction(snapshot, new Set([toRunId("a"), toRunId("b")]), NOW);
    expect(all.freed).toEqual([{ kind: "lock", name: "x", units: 1 }]);
  });
});

describe("whom a reset is about", () => {
  const snapshot = createSnapshot([
    createTicketKey("lock held", "a", 1, held),
    createTicketKey("lock held", "b", 2, waiting),
    createTicketKey("lock turn", "c", 3, { state: "admitted" }),
    createTicketKey("lock turn", "d", 4, waiting),
    createTicketKey("lock free", "e", 5, waiting),
    createTicketKey("resource db", "f", 6, held),
    createTicketKey("resource db", "g", 7, held),
    createTicketKey("resource db", "h", 8, waiting),
    createKeyValue(keys.lock("strange", toRunId("j")), "{"),
  ]);
  it.each([
    ["lock", "held", undefined, ["a"]],
    ["lock", "held", toRunId("b"), ["b"]],
    ["lock", "turn", undefined, ["c"]],
    ["lock", "free", undefined, []],
    ["lock", "nobody's", undefined, []],
    ["lock", "strange", undefined, ["j"]],
    ["resource", "db", undefined, ["f", "g"]],
    ["resource", "db", toRunId("z"), []],
  ] as const)("$0 $1, run $2: $3", (kind, name, run, who) => {
    expect(findResetTargets(snapshot, kind, name, run).map((entry) => entry.run[0])).toEqual(who);
  });

  it("finds runs by id, by its beginning, by host and pid", () => {
    const claims = buildClaims(snapshot);
    const found = (word: string) => findClaimsByWord(claims, word).map(({ run }) => run[0]);
    expect(found(toRunId("a"))).toEqual(["a"]);
    expect(found("aaaa")).toEqual(["a"]);
    expect(found("aaa")).toEqual([]); // too short to mean one
    expect(found("c.example.com:4711")).toEqual(["c"]);
    expect(found("c.example.com:1")).toEqual([]);
    expect([...claims.values()].filter(isHolder).map(({ run }) => run[0])).toEqual(["a", "f", "g"]);
  });
});

it("one claim is found as it is among all of them, with all its tickets", () => {
  const snapshot = createSnapshot([
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock x", "b", 2, waiting),
    createTicketKey("resource db", "b", 3, waiting),
  ]);
  const claims = buildClaims(snapshot);
  expect([...claims].map(([run, { entries }]) => [run[0], entries.length])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  for (const [run, claim] of claims) expect(findClaim(snapshot, run)).toEqual(claim);
  expect(findClaim(snapshot, toRunId("c"))).toBeUndefined();
});

describe("what happened in a queue", () => {
  const before = [
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock x", "b", 2, waiting),
    createTicketKey("lock x", "c", 3, waiting),
  ];
  const [a, b, c] = before;
  if (!a || !b || !c) throw new Error("three tickets");
  const changed = (kv: KeyValue, change: Partial<Ticket>): KeyValue => ({
    ...kv,
    modRevision: 50n,
    value: serializeTicket({ ...JSON.parse(kv.value), ...change }),
  });
  it.each([
    ["nothing", before, []],
    ["one gone", [a, c], ["b.example.com:4711 has left (it was waiting)"]],
    [
      "a hand-over",
      [changed(b, held), c],
      ["a.example.com:4711 has left (it was held)", "b.example.com:4711 was waiting, is held"],
    ],
    [
      "a request",
      [changed(a, { reset: { by: "ann@ops", at: 1 } }), b, c],
      ["a.example.com:4711 was asked to end by ann@ops"],
    ],
    [
      "one more",
      [...before, createTicketKey("lock x", "d", 9, waiting)],
      ["d.example.com:4711 has joined (waiting)"],
    ],
    [
      "a ticket spoilt",
      [{ ...a, value: "{", modRevision: 60n }, b, c],
      ["a.example.com:4711 was held, is malformed"],
    ],
  ])("%s", (_, after, says) => {
    expect(describeQueueChanges(toQueue(before), toQueue(after))).toEqual(says);
  });
});
