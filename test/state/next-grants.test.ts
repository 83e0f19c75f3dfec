import { describe, expect, it } from "vitest";
import { buildClaims } from "../../src/state/claims.ts";
import {
  canPredictGrants,
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  formatNextGrants,
  MOST_TICKETS,
} from "../../src/state/what-if.ts";
import { held, NOW, pictureOf, runOf, stand, waiting } from "./pictures.ts";

const snapshot = pictureOf([
  stand("lock x", "a", 1, held),
  ...["b", "c", "d", "e", "f"].map((letter, at) => stand("lock x", letter, at + 2, waiting)),
  stand("resource db", "g", 10, { ...held, count: 8, total: 10 }),
  stand("resource db", "h", 11, { ...waiting, count: 4, total: 10 }),
]);

function formatReset(letter: string): string | undefined {
  const claim = buildClaims(snapshot).get(runOf(letter));
  return formatNextGrants(computeResetEffect(snapshot, claim === undefined ? [] : [claim]), NOW);
}

describe("the line of next grants", () => {
  it("names three runs in their order, and says that there are more", () => {
    expect(formatReset("a")).toMatch(
      /^then granted: b\.\S+ at once, c\.\S+, d\.\S+ and more \(i shows all\)$/,
    );
  });

  it("follows a larger total", () => {
    const grow = (total: number) =>
      formatNextGrants(computeTotalEffect(snapshot, { resource: "db", total }, NOW), NOW);
    expect(grow(12)).toMatch(/^then granted: h\.\S+ at once$/);
    expect(grow(11)).toMatch(/^then granted: h\.\S+$/);
  });

  it("says that a drain lets nobody in", () => {
    const target = { scope: "lock", name: "x" } as const;
    const effect = computeDrainEffect(snapshot, target, { by: "ann@web1", wall: NOW });
    expect(formatNextGrants(effect, NOW)).toBe("then granted: none of the waiting runs");
  });

  it("is missing where nobody waits", () => {
    const quiet = pictureOf([stand("lock x", "a", 1, held)]);
    const effect = computeResetEffect(quiet, [...buildClaims(quiet).values()]);
    expect(formatNextGrants(effect, NOW)).toBeUndefined();
  });

  it("is not computed in a very large cluster", () => {
    expect(canPredictGrants(snapshot)).toBe(true);
    const [queue] = snapshot.queues.values();
    const [entry] = queue?.entries ?? [];
    if (queue === undefined || entry === undefined) throw new Error("no queue");
    const entries = Array.from({ length: MOST_TICKETS + 1 }, () => entry);
    expect(canPredictGrants({ queues: new Map([["lock/x", { ...queue, entries }]]) })).toBe(false);
  });
});
