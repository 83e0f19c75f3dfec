/** What a reset, a drain or a new total would do, as tables of queues. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
  waiting,
} from "../../../fixtures/state/sample-snapshots.ts";
import { formatNextGrants } from "../../../src/cli/views/what-if.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";
import { buildClaims } from "../../../src/site/state/claims.ts";
import {
  canPredictGrants,
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  MOST_TICKETS,
  predictChange,
  type WhatIfReport,
} from "../../../src/site/state/what-if.ts";

const db = (count: number, more: Partial<Ticket> = waiting) => ({ count, total: 10, ...more });

/** Formats a report: `ends a`, `leaves b`, `c0` for a grant in round 0, `never d`. */
function format({ ends, leaves, grants, blocked }: WhatIfReport) {
  return [
    ...ends.map(({ run }) => `ends ${run[0]}`),
    ...leaves.map(({ claim }) => `leaves ${claim.run[0]}`),
    ...grants.map(({ claim, round }) => `${claim.run[0]}${round}`),
    ...blocked.map(({ claim }) => `never ${claim.run[0]}`),
  ];
}

const LOCK = [
  createTicketKey("lock x", "a", 1, held),
  createTicketKey("lock x", "b", 2, waiting),
  createTicketKey("lock x", "c", 3, waiting),
];
const UNITS = [
  createTicketKey("resource db", "a", 1, db(8, held)),
  createTicketKey("resource db", "b", 2, db(4)),
  createTicketKey("resource db", "c", 3, db(6)),
  createTicketKey("resource db", "d", 4, db(1)),
];
const drained = createDrainKey("lock", "x", { by: "ann@web1" });

describe("a reset", () => {
  it.each([
    ["a waiter goes", LOCK, "b", ["ends b", "c1"]],
    ["as many as fit, in order", UNITS, "a", ["ends a", "b0", "c0", "d1"]],
    ["a drain still stops all", [...LOCK, drained], "a", ["ends a", "never b", "never c"]],
    [
      "an unreadable ticket blocks",
      [...LOCK, createKeyValue(keys.lock("x", toRunId("m")), "?", 2)],
      "a",
      ["ends a", "b0", "never m", "never c"],
    ],
  ])("%s", (_, kvs, runs, result) => {
    const snapshot = createSnapshot(kvs);
    const claims = buildClaims(snapshot);
    const evicted = [...runs].flatMap((letter) => claims.get(toRunId(letter)) ?? []);
    expect(format(predictChange(snapshot, computeResetEffect(snapshot, evicted), NOW))).toEqual(result);
  });

  it("says what each grant would be without it", () => {
    const snapshot = createSnapshot(LOCK);
    const evicted = [buildClaims(snapshot).get(toRunId("a"))].filter((claim) => claim !== undefined);
    expect(
      predictChange(snapshot, computeResetEffect(snapshot, evicted), NOW).grants.map(({ round, before }) => [
        round,
        before,
      ]),
    ).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });
});

describe("a drain", () => {
  const both = [...LOCK, createTicketKey("lock y", "d", 5, held), createTicketKey("lock y", "e", 6, waiting)];
  it.each([
    ["of a lock stops its waiters only", both, "lock", "x", ["never b", "never c"]],
    ["of a host lets the next one pass", LOCK, "host", "b.example.com", ["leaves b", "c1"]],
    ["of everything", both, "all", "all", ["never b", "never c", "never e"]],
    ["of nothing", both, "lock", "z", []],
  ] as const)("%s", (_, kvs, scope, name, result) => {
    expect(
      format(
        predictChange(
          createSnapshot(kvs),
          computeDrainEffect(createSnapshot(kvs), { scope, name }, { by: "ann", wall: NOW }),
          NOW,
        ),
      ),
    ).toEqual(result);
  });
});

describe("a new total", () => {
  const config = (total: string) => createResourceKey("db", { total });
  it.each([
    ["more units let the next ones start", 12, ["b0", "c1", "d1"]],
    ["fewer units", 8, ["b1", "c2", "d2"]],
    ["too few for a request", 5, ["leaves c", "b1", "d1"]],
  ])("%s", (_, total, result) => {
    const snapshot = createSnapshot([...UNITS, config("10")]);
    expect(
      format(predictChange(snapshot, computeTotalEffect(snapshot, { resource: "db", total }, NOW), NOW)),
    ).toEqual(result);
  });

  it("a run that states another total leaves", () => {
    const snapshot = createSnapshot(
      [UNITS[0], createTicketKey("resource db", "b", 2, db(4, { ...waiting, isStated: true }))].filter(
        (kv) => kv !== undefined,
      ),
    );
    expect(
      format(predictChange(snapshot, computeTotalEffect(snapshot, { resource: "db", total: 20 }, NOW), NOW)),
    ).toEqual(["leaves b"]);
  });
});

const BUSY = createSnapshot([
  createTicketKey("lock x", "a", 1, held),
  ...["b", "c", "d", "e", "f"].map((letter, at) => createTicketKey("lock x", letter, at + 2, waiting)),
  createTicketKey("resource db", "g", 10, { ...held, count: 8, total: 10 }),
  createTicketKey("resource db", "h", 11, { ...waiting, count: 4, total: 10 }),
]);

function formatReset(letter: string) {
  const claim = buildClaims(BUSY).get(toRunId(letter));
  return formatNextGrants(computeResetEffect(BUSY, claim === undefined ? [] : [claim]), NOW);
}

describe("the line of next grants", () => {
  it("names three runs in their order, and says that there are more", () => {
    expect(formatReset("a")).toMatch(
      /^then granted: b\.\S+ at once, c\.\S+, d\.\S+ and more \(i shows all\)$/,
    );
  });

  it("follows a larger total", () => {
    const grow = (total: number) =>
      formatNextGrants(computeTotalEffect(BUSY, { resource: "db", total }, NOW), NOW);
    expect(grow(12)).toMatch(/^then granted: h\.\S+ at once$/);
    expect(grow(11)).toMatch(/^then granted: h\.\S+$/);
  });

  it("says that a drain admits no run", () => {
    const target = { scope: "lock", name: "x" } as const;
    const effect = computeDrainEffect(BUSY, target, { by: "ann@web1", wall: NOW });
    expect(formatNextGrants(effect, NOW)).toBe("then granted: none of the waiting runs");
  });

  it("is missing if no run waits", () => {
    const quiet = createSnapshot(LOCK.slice(0, 1));
    const effect = computeResetEffect(quiet, [...buildClaims(quiet).values()]);
    expect(formatNextGrants(effect, NOW)).toBeUndefined();
  });

  it("is not computed in a very large cluster", () => {
    expect(canPredictGrants(BUSY)).toBe(true);
    const [queue] = BUSY.queues.values();
    const [entry] = queue?.entries ?? [];
    if (queue === undefined || entry === undefined) throw new Error("no queue");
    const entries = Array.from({ length: MOST_TICKETS + 1 }, () => entry);
    expect(canPredictGrants({ queues: new Map([["lock/x", { ...queue, entries }]]) })).toBe(false);
  });
});
