/** Why a run waits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { liveness, seenAgo, seenWithin } from "../../src/model/alive.ts";
import { claimsOf } from "../../src/model/claims.ts";
import { explain } from "../../src/model/explain.ts";
import { explanationLines } from "../../src/model/explain-text.ts";
import { admit } from "../../src/protocol/admission.ts";
import { drainText } from "../../src/protocol/drain.ts";
import { queueOf } from "../../src/protocol/ticket.ts";
import type { KeyValue } from "../../src/protocol/txn.ts";
import { keys } from "../protocol/samples.ts";
import { NOW, pictureOf, plain, runOf, stand } from "./pictures.ts";

const held = { state: "held", grantedAt: NOW - 60_000 } as const;

function of(letter: string, ...kvs: KeyValue[]) {
  const picture = pictureOf(kvs);
  const claim = claimsOf(picture).get(runOf(letter));
  if (claim === undefined) throw new Error(`no run ${letter}`);
  return explain(picture, claim, NOW);
}

const history = (...durations: number[]) => {
  const past = {
    run: "r",
    host: "h",
    pid: 1,
    command: "c",
    token: "1",
    enqueuedAt: 0,
    grantedAt: 0,
    endedAt: 0,
  };
  return plain(
    keys.history("x"),
    JSON.stringify({ v: 1, runs: durations.map((ms) => ({ ...past, waited: 0, held: ms, exit: 0 })) }),
  );
};

describe("an explanation", () => {
  const lock = [
    stand("lock x", "a", 1, held),
    stand("lock x", "b", 2, { state: "waiting" }),
    stand("lock x", "c", 3, { state: "waiting" }),
  ];

  it("of a holder is that it holds", () => {
    expect(of("a", ...lock)).toMatchObject({ state: "holds", obstacles: [] });
  });

  it("of a waiter names those ahead, nearest first", () => {
    const { state, obstacles } = of("c", ...lock);
    expect(state).toBe("waits");
    expect(
      obstacles.map(({ position, missing, ahead }) => [position, missing, ahead.map(({ run }) => run[0])]),
    ).toEqual([[3, 2, ["b", "a"]]]);
  });

  it("of one whose turn has come is that it is ready, or drained", () => {
    const [, ...waiters] = lock;
    expect(of("b", ...waiters).state).toBe("ready");
    const drain = plain(keys.drain("host", "b.example.com"), drainText({ by: "ann", at: 1 }));
    expect(of("b", ...waiters, drain)).toMatchObject({ state: "drained", drains: [{ by: "ann" }] });
    expect(of("c", ...waiters, drain).drains).toEqual([]);
  });

  it.each([
    { what: "nothing is known", durations: [], estimate: undefined },
    { what: "too little is known", durations: [9, 9], estimate: undefined },
    {
      what: "the holder is within its usual time",
      durations: [100_000, 100_000, 100_000],
      estimate: { p50: 140_000, p95: 140_000 },
    },
    {
      what: "the holder is beyond it",
      durations: [1_000, 1_000, 1_000],
      estimate: { p50: 1_000, p95: 1_000 },
    },
  ])("estimates by the history where $what", ({ durations, estimate }) => {
    expect(of("c", ...lock, history(...durations)).estimate).toEqual(estimate);
  });

  it("says that a run waits if and only if the rules of admission do", () => {
    const wish = fc.record({ count: fc.integer({ min: 1, max: 5 }), isHeld: fc.boolean() });
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 8 }), (wishes) => {
        const kvs = wishes.map(({ count, isHeld }, index) =>
          stand("resource db", "abcdefgh"[index] ?? "z", index + 1, {
            count,
            total: 6,
            state: isHeld ? "held" : "waiting",
          }),
        );
        for (const { run, ticket } of queueOf(kvs)) {
          const { state, obstacles } = of(run[0] ?? "", ...kvs);
          const admission = admit(queueOf(kvs), run);
          if (ticket?.state === "held") expect(state).toBe("holds");
          else expect(state).toBe(admission.kind === "admitted" ? "ready" : "waits");
          if (admission.kind === "waiting") expect(obstacles[0]?.missing).toBe(admission.missing);
        }
      }),
    );
  });

  it("is told with the answer first", () => {
    const explanation = of("c", ...lock, history(100_000, 100_000, 100_000));
    expect(explanationLines(explanation, NOW, new Map([[7n, { left: 3, ttl: 30 }]]))).toEqual([
      "c.example.com:4711 (invoices.sh), waits for lock x, for 1m40s: a.example.com:4711 holds lock x, and 1 waits before it",
      "  lock x: position 3",
      "    waiting by b.example.com:4711 (invoices.sh) for 1m40s; its session was not renewed for 27s, and ends in 3s",
      "    held by a.example.com:4711 (invoices.sh) for 1m; its session was not renewed for 27s, and ends in 3s",
      "  by the lock's history it may wait 2m20s more, hardly longer than 2m20s",
    ]);
  });
});

describe("whether a runner is there", () => {
  it.each([
    { pulse: { left: 30, ttl: 30 }, verdict: "alive" },
    { pulse: { left: 24, ttl: 30 }, verdict: "alive" },
    { pulse: { left: 15, ttl: 30 }, verdict: "alive" },
    { pulse: { left: 14, ttl: 30 }, verdict: "quiet" },
    { pulse: { left: 0, ttl: 30 }, verdict: "quiet" },
    { pulse: { left: 1, ttl: 2 }, verdict: "alive" },
    { pulse: undefined, verdict: "gone" },
    { pulse: null, verdict: "unknown" },
  ])("$pulse is $verdict", ({ pulse, verdict }) => {
    expect(liveness(pulse).verdict).toBe(verdict);
  });

  it("a host was seen, within a time and the step in which it says so", () => {
    const record = { fqdn: "a", cpu: 1, memMb: 1, macros: {}, version: "1", seenAt: NOW - 600_000 };
    expect(seenAgo(record, NOW)).toBe(600_000);
    expect(seenAgo({ ...record, seenAt: 0 }, NOW)).toBeUndefined();
    expect([
      seenWithin(record, 300_000, NOW),
      seenWithin(record, 299_999, NOW),
      seenWithin(undefined, 1, NOW),
    ]).toEqual([...[true, false, false]]);
  });
});
