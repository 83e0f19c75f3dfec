/** Liveness of runners and hosts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOW } from "../../../fixtures/state/sample-snapshots.ts";
import { formatSeen, judgeHostLiveness } from "../../../src/cli/views/hosts.ts";
import {
  computeSeenAgo,
  isSeenWithin,
  judgeRunnerLiveness,
  type RunnerLiveness,
} from "../../../src/site/state/liveness.ts";

describe("whether a runner is there", () => {
  it.each([
    [{ left: 30, ttl: 30 }, "alive"],
    [{ left: 15, ttl: 30 }, "alive"],
    [{ left: 14, ttl: 30 }, "quiet"],
    [{ left: 0, ttl: 30 }, "quiet"],
    [{ left: 1, ttl: 2 }, "alive"],
    [{ left: 30, ttl: 30, isShared: true }, "agent"],
    [{ left: 14, ttl: 30, isShared: true }, "quiet"],
    [{ left: 30, ttl: 30, isShared: false }, "alive"],
    [undefined, "gone"],
    [null, "unknown"],
  ])("$0 is $1", (liveness, verdict) => {
    expect(judgeRunnerLiveness(liveness).verdict).toBe(verdict);
  });

  it("is never doubted of one that renews when it is due, every sixth of its time to live", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 600 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (ttl, late) => {
          const left = Math.floor(ttl - (late * ttl) / 6);
          expect(judgeRunnerLiveness({ left, ttl }).verdict).toBe("alive");
        },
      ),
    );
  });
});

describe("whether a host is there", () => {
  const seen = (ago: number) => ({
    fqdn: "a",
    cpu: 1,
    memMb: 1,
    macros: {},
    version: "1",
    seenAt: NOW - ago,
  });
  const runner = (verdict: RunnerLiveness["verdict"]): RunnerLiveness => ({
    verdict,
    text: "",
    left: undefined,
  });

  it("is known by when it was seen, in the steps in which it says so", () => {
    expect(computeSeenAgo(seen(600_000), NOW)).toBe(600_000);
    expect(computeSeenAgo({ ...seen(0), seenAt: 0 }, NOW)).toBeUndefined();
    expect([300_000, 299_999].map((within) => isSeenWithin(seen(600_000), within, NOW))).toEqual([
      true,
      false,
    ]);
    expect(isSeenWithin(undefined, 1, NOW)).toBe(false);
    expect([undefined, seen(299_000), seen(3_600_000)].map((record) => formatSeen(record, NOW))).toEqual([
      "never",
      "in the last 5m",
      "1h ago",
    ]);
  });

  it.each([
    ["nothing is known", undefined, [], "unknown", "seen never"],
    ["it was seen of late", 1_000, [], "alive", "seen in the last 5m"],
    ["it is silent", 7_200_000, [], "unknown", "seen 2h ago"],
    [
      "only its agent renews",
      undefined,
      ["agent", "quiet"] as const,
      "alive",
      "the agent of 1 of 2 runners there is alive",
    ],
    [
      "one of its runners renews",
      undefined,
      ["alive", "quiet", "unknown"] as const,
      "alive",
      "1 of 2 runners there are alive",
    ],
    [
      "all of its runners are late",
      1_000,
      ["quiet", "gone"] as const,
      "quiet",
      "0 of 2 runners there are alive; seen in the last 5m",
    ],
    ["nobody could be asked", 1_000, ["unknown"] as const, "alive", "seen in the last 5m"],
  ])("is $3 where $0", (_, ago, runners, verdict, text) => {
    const record = ago === undefined ? undefined : seen(ago);
    expect(judgeHostLiveness(record, runners.map(runner), NOW)).toEqual({ verdict, text });
  });
});
