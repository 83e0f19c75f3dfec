import { expect, test } from "vitest";
import type { Random } from "../../../src/core/base/random.ts";
import { CachedSchedule } from "../../../src/worker/cache/cached-schedule.ts";
import { computeClaimTime } from "../../../src/worker/claims/claim-candidate.ts";

const HALF: Random = { generateBytes: (n) => new Uint8Array(n), generateFraction: () => 0.5 };
const NEVER = Number.NEGATIVE_INFINITY;
const DUE = 100_000;

test.each([
  ["the first worker claims on time", 0, NEVER, 0, 0],
  ["whatever others claim", 0, DUE + 5_000, 0, 0],
  ["the second one claims a second and a random part later", 1, NEVER, 0, 1_250],
  ["the third one two seconds later, and all others too", 2, NEVER, 0, 2_250],
  ["", 7, NEVER, 0, 2_250],
  ["what became free late is claimed later", 1, NEVER, DUE + 3_000, 4_250],
  ["a claim of the first worker from before counts for nothing", 1, DUE - 1, 0, 1_250],
  ["while the first worker claims, the second one waits on", 1, DUE + 4_000, 0, 5_250],
  ["but not for ever: it may be unable to claim this one", 1, DUE + 60_000, 0, 11_250],
])("%s (rank %i)", (_what, rank, lastClaimBefore, freeSince, expected) => {
  const entry = new CachedSchedule({ id: "x", host: undefined, since: undefined }, freeSince);
  expect(computeClaimTime(entry, DUE, { rank, lastClaimBefore }, HALF) - DUE).toBe(expected);
});
