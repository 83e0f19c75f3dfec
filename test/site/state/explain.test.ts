/** Why a run waits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createHistoryKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
  toRunId,
  waiting,
} from "../../../fixtures/state/sample-snapshots.ts";
import { formatExplanation } from "../../../src/cli/views/explanation.ts";
import { admit } from "../../../src/core/protocol/admission.ts";
import { toQueue } from "../../../src/core/protocol/ticket.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildClaims } from "../../../src/site/state/claims.ts";
import { explain, type SessionLivenessMap } from "../../../src/site/state/explain.ts";

const ALIVE: SessionLivenessMap = new Map([[7n, { left: 30, ttl: 30 }]]);

function of(letter: string, ...kvs: KeyValue[]) {
  const snapshot = createSnapshot(kvs);
  const claim = buildClaims(snapshot).get(toRunId(letter));
  if (claim === undefined) throw new Error(`no run ${letter}`);
  return explain(snapshot, claim, NOW);
}

const lines = (letter: string, ...kvs: KeyValue[]) =>
  formatExplanation(of(letter, ...kvs), { wall: NOW, sessions: ALIVE });

/** The history of lock x: how long each run held it, ms. */
const history = (...durations: number[]) =>
  createHistoryKey("x", ...durations.map((ms) => ({ held: ms, waited: 0 })));

const drain = (scope: "lock" | "host" | "group", name: string, until?: number) =>
  createDrainKey(scope, name, { by: "ann@ops", at: NOW - 60_000, why: "new disks", ...(until && { until }) });
const total = (units: string) => createResourceKey("db", { total: units });

const lock = [
  createTicketKey("lock x", "a", 1, held),
  createTicketKey("lock x", "b", 2, waiting),
  createTicketKey("lock x", "c", 3, waiting),
];

describe("an explanation", () => {
  it("of one whose turn has come is that it is ready, or drained", () => {
    const [, ...waiters] = lock;
    expect(of("b", ...waiters).state).toBe("ready");
    const stop = drain("host", "b.example.com");
    expect(of("b", ...waiters, stop)).toMatchObject({ state: "drained", drains: [{ by: "ann@ops" }] });
    expect(of("c", ...waiters, stop).drains).toEqual([]);
    expect(of("b", ...waiters, drain("host", "b.example.com", NOW)).state).toBe("ready");
  });

  it("of one that waits in several queues says of each how it stands there", () => {
    const queues = [
      createTicketKey("resource db", "a", 1, { ...held, count: 4, total: 5 }),
      createTicketKey("lock x", "b", 2, { state: "admitted" }),
      createTicketKey("resource db", "b", 3, { ...waiting, count: 2, total: 5 }),
    ];
    const { state, obstacles } = of("b", ...queues);
    expect(state).toBe("waits");
    expect(
      obstacles.map(({ kind, position, missing, used, total: all }) => [kind, position, missing, used, all]),
    ).toEqual([
      ["lock", 1, 0, 0, 1],
      ["resource", 2, 1, 4, 5],
    ]);
  });

  it("judges by the total that an expression means on the run's own host", () => {
    const queue = [
      createTicketKey("resource db", "a", 1, { ...held, count: 2, total: 2 }),
      createTicketKey("resource db", "b", 2, { ...waiting, count: 2, total: 8 }),
    ];
    expect(of("b", ...queue, total("CPU * 2")).state).toBe("ready");
    expect(of("b", ...queue).state).toBe("waits");
  });

  it("counts those that hold behind it, and names them", () => {
    const queue = [
      createTicketKey("resource db", "a", 1, { ...waiting, count: 4, total: 5 }),
      createTicketKey("resource db", "b", 2, { ...held, count: 2, total: 5 }),
    ];
    expect(of("a", ...queue).obstacles).toMatchObject([
      { missing: 1, ahead: [], heldBehind: [{ run: toRunId("b") }] },
    ]);
    expect(lines("a", ...queue).join("\n")).toContain("held 2 by b.example.com");
  });

  it("of a lock knows that there is one of it, whatever tickets say", () => {
    const all = { total: 9 };
    const queue = [
      createTicketKey("lock x", "a", 1, { ...held, ...all }),
      createTicketKey("lock x", "b", 2, { ...waiting, ...all }),
    ];
    expect(of("b", ...queue).state).toBe("waits");
  });

  it("of one of whose tickets only some can be read is that it is malformed", () => {
    const broken = createKeyValue(keys.lock("x", toRunId("b")), "{oops", 1);
    expect(of("b", broken, createTicketKey("resource db", "b", 2, waiting))).toMatchObject({
      state: "malformed",
    });
  });

  it("of one behind a ticket that cannot be read, and of that ticket", () => {
    const broken = createKeyValue(keys.lock("x", toRunId("a")), "{oops", 1);
    expect(of("a", broken).state).toBe("malformed");
    expect(lines("b", broken, createTicketKey("lock x", "b", 2, waiting))[0]).toContain(
      "the unreadable ticket /signalbox/locks/x/aaaaaaaaaaaaaaaa is first",
    );
  });

  it("of one behind a run that has its turn and waits for a lease is what that one waits for", () => {
    const kvs = [
      createTicketKey("resource db", "a", 1, { ...held, count: 5, total: 5 }),
      createTicketKey("lock x", "b", 2, { state: "admitted" }),
      createTicketKey("resource db", "b", 3, { ...waiting, count: 2, total: 5 }),
      createTicketKey("lock x", "c", 4, waiting),
    ];
    const explanation = of("c", ...kvs, history(100_000, 100_000, 100_000));
    expect(explanation.first).toMatchObject({ state: "waits", claim: { run: toRunId("b") } });
    expect(explanation.estimate).toBeUndefined(); // the lease decides, and has no history
    const unmarked = kvs.with(1, createTicketKey("lock x", "b", 2, waiting)); // it has not said yet that its turn has come
    expect(of("c", ...unmarked, history(1, 1, 1)).estimate).toBeUndefined();
    const alone = kvs.filter((_, at) => at === 1 || at === 3); // it is about to claim its leases, or to start
    expect(of("c", ...alone, history(1, 1, 1)).estimate).toBeUndefined();
    expect(lines("c", ...kvs).slice(0, 1)).toEqual([
      "c.example.com:4711 (invoices.sh) has waited 1m40s for lock x: b.example.com:4711 is first, and waits for 2 of db",
    ]);
  });

  it.each([
    ["nothing is known", [], undefined],
    ["too little is known", [9, 9], undefined],
    [
      "the holder is within its usual time",
      [100_000, 100_000, 100_000],
      { kind: "usual", runs: 3, p50: 140_000, p95: 140_000 },
    ],
    [
      "few took as long as the holder already has",
      [1_000, 1_000, 1_000, 90_000],
      { kind: "usual", runs: 4, p50: 31_000, p95: 120_000 },
    ],
    ["none ever took as long", [1_000, 2_000, 1_000], { kind: "overdue", runs: 3, longest: 2_000 }],
  ])("estimates by the history where $0", (_, durations, estimate) => {
    expect(of("c", ...lock, history(...durations)).estimate).toEqual(estimate);
  });

  it("makes no estimate where a drain decides, whoever it stops", () => {
    const past = history(100_000, 100_000, 100_000);
    expect(of("c", ...lock, past, drain("host", "c.example.com")).estimate).toBeUndefined();
    const [, ...waiters] = lock;
    expect(of("c", ...waiters, past).estimate).toMatchObject({ p50: 100_000 });
    expect(of("c", ...waiters, past, drain("host", "b.example.com")).estimate).toBeUndefined();
  });

  it("estimates a place that is kept in grace by its end", () => {
    const grace = createTicketKey("lock x", "a", 1, { ...held, state: "grace", until: NOW + 5_000 });
    const kvs = [grace, createTicketKey("lock x", "b", 2, waiting)];
    expect(of("b", ...kvs, history(1, 1, 1)).estimate).toMatchObject({ p50: 5_000, p95: 5_000 });
    expect(lines("b", ...kvs)[0]).toContain("has ended, but keeps its place for another 5s");
  });

  it("says that a run waits if and only if the rules of admission do", () => {
    const claim = fc.record({ count: fc.integer({ min: 1, max: 7 }), isHeld: fc.boolean() });
    const configured = fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(claim, { minLength: 1, maxLength: 8 }), configured, (claims, units) => {
        const kvs = claims.map(({ count, isHeld }, index) =>
          createTicketKey("resource db", "abcdefgh"[index] ?? "z", index + 1, {
            count,
            total: 7,
            state: isHeld ? "held" : "waiting",
          }),
        );
        const all = units === undefined ? kvs : [...kvs, total(String(units))];
        const states = { admitted: "ready", waiting: "waits", impossible: "impossible", gone: "malformed" };
        for (const { run, ticket } of toQueue(kvs)) {
          const { state, obstacles } = of(run[0] ?? "", ...all);
          const admission = admit(toQueue(kvs), run, units);
          expect(state).toBe(ticket?.state === "held" ? "holds" : states[admission.kind]);
          if (admission.kind === "waiting" && ticket?.state !== "held")
            expect(obstacles[0]).toMatchObject({ missing: admission.missing, total: admission.total });
        }
      }),
    );
  });
});

describe("an explanation in words", () => {
  it("has the answer first, and doubts those that do not renew", () => {
    const explanation = of("c", ...lock, history(100_000, 100_000, 100_000));
    expect(
      formatExplanation(explanation, { wall: NOW, sessions: new Map([[7n, { left: 3, ttl: 30 }]]) }),
    ).toEqual([
      "c.example.com:4711 (invoices.sh) has waited 1m40s for lock x: " +
        "a.example.com:4711 has held it for 1m; its session was not renewed for 27s, and ends in 3s, 1 waits before it",
      "  its own runner is quiet: its session was not renewed for 27s, and ends in 3s",
      "  lock x: place 3",
      "    waiting by b.example.com:4711 (invoices.sh) for 1m40s; its session was not renewed for 27s, and ends in 3s",
      "    held by a.example.com:4711 (invoices.sh) for 1m; its session was not renewed for 27s, and ends in 3s",
      "  judging by the last 3 runs, it should get the lock in about 2m20s, rarely later than in 2m20s",
    ]);
  });

  it("says what is drained, by whom, why and until when; and what was asked of whom", () => {
    const reset = { by: "bob@ops", at: NOW - 30_000, why: "it hangs" };
    const kvs = [
      createTicketKey("lock x", "a", 1, { ...held, reset }),
      createTicketKey("lock x", "b", 2, waiting),
    ];
    expect(lines("b", ...kvs, drain("lock", "x", NOW + 3_600_000))).toEqual([
      "b.example.com:4711 (invoices.sh) has waited 1m40s for lock x: a.example.com:4711 has held it for 1m",
      "  it may not start: lock x was drained by ann@ops 1m ago: new disks; that ends in 1h",
      "  lock x: place 2",
      "    held by a.example.com:4711 (invoices.sh) for 1m; it was asked to end by bob@ops, 30s ago: it hangs",
    ]);
    expect(lines("b", ...kvs.slice(1), drain("lock", "x"))[0]).toBe(
      "b.example.com:4711 (invoices.sh) has waited 1m40s for lock x: " +
        "it may not start: lock x was drained by ann@ops 1m ago: new disks",
    );
  });

  it("says of a ticket on no session that nothing ends it", () => {
    const put = { ...createTicketKey("lock x", "a", 1, held), session: 0n };
    expect(lines("b", put, createTicketKey("lock x", "b", 2, waiting))[0]).toContain("; it has no session");
  });

  it("names each lock that a run waits for, and what its first run waits for", () => {
    const kvs = [
      createTicketKey("lock x", "a", 1, held),
      createTicketKey("lock x", "b", 2, waiting),
      createTicketKey("lock y", "b", 2, { state: "admitted" }),
      createTicketKey("lock x", "c", 3, waiting),
      createTicketKey("lock y", "c", 3, waiting),
    ];
    expect(lines("c", ...kvs)).toEqual([
      "c.example.com:4711 (invoices.sh) has waited 1m40s for lock x and lock y: a.example.com:4711 has held it for 1m, " +
        "1 waits before it; and b.example.com:4711 is first, and waits for lock x",
      "  lock x: place 3",
      "    waiting by b.example.com:4711 (invoices.sh) for 1m40s",
      "    held by a.example.com:4711 (invoices.sh) for 1m",
      "  lock y: place 2",
      "    admitted by b.example.com:4711 (invoices.sh) for 1m40s, its turn has come here, it waits elsewhere",
      "    the first waits for lock x",
    ]);
  });

  it("counts those that share a lock together", () => {
    const sharing = { shared: true } as const;
    const kvs = [
      createTicketKey("lock x", "a", 1, { ...held, ...sharing }),
      createTicketKey("lock x", "b", 2, { ...held, ...sharing, grantedAt: NOW - 20_000 }),
      createTicketKey("lock x", "c", 3, waiting),
      createTicketKey("lock x", "d", 4, { ...waiting, ...sharing }),
      createTicketKey("lock x", "e", 5, { ...waiting, ...sharing }),
      createTicketKey("lock x", "f", 6, waiting),
    ];
    const past = history(100_000, 100_000, 100_000);
    expect(lines("c", ...kvs, past)).toEqual([
      "c.example.com:4711 (invoices.sh) has waited 1m40s for lock x: b.example.com:4711 has held it for 20s, 1 shares it",
      "  lock x: place 3",
      "    held (shared) by b.example.com:4711 (invoices.sh) for 20s",
      "    held (shared) by a.example.com:4711 (invoices.sh) for 1m",
      "  judging by the last 3 runs, it should get the lock in about 1m20s, rarely later than in 1m20s",
    ]);
    expect(lines("a", ...kvs)[0]).toBe(
      "a.example.com:4711 (invoices.sh) has held lock x (shared) for 1m: it waits for nothing",
    );
    const estimates = ["d", "e", "f"].map((run) => of(run, ...kvs, past).estimate);
    expect(estimates).toMatchObject([{ p50: 180_000 }, { p50: 180_000 }, { p50: 280_000 }]);
  });

  it("counts units", () => {
    const kvs = [
      createTicketKey("resource db", "a", 1, { ...held, count: 2, total: 10 }),
      createTicketKey("resource db", "b", 2, { ...waiting, count: 9, total: 10 }),
      createTicketKey("resource db", "c", 3, { ...waiting, count: 1, total: 10 }),
    ];
    expect([lines("b", ...kvs)[0], lines("c", ...kvs)[0]]).toEqual([
      "b.example.com:4711 (invoices.sh) has waited 1m40s for 9 of db: it asks for 9, 8 of 10 are free: 1 missing",
      "c.example.com:4711 (invoices.sh) has waited 1m40s for 1 of db: " +
        "it asks for 1, 8 of 10 are free, and 1 before it asks for 9: 2 missing",
    ]);
    expect(lines("b", ...kvs, total("8"))[0]).toContain(
      "it asks for 9 of db, but the configured total is 8; it gives up",
    );
  });

  it("names the holder however many are in between", () => {
    const queue = [..."bcdefghijk"].map((letter, at) => createTicketKey("lock x", letter, at + 2, waiting));
    const text = lines("k", createTicketKey("lock x", "a", 1, held), ...queue);
    expect(text[0]).toContain("a.example.com:4711 has held it for 1m, 9 wait before it");
    expect(text.slice(-2)).toEqual(["    held by a.example.com:4711 (invoices.sh) for 1m", "    and 5 more"]);
  });
});
