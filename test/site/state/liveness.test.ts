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
    { liveness: { left: 30, ttl: 30 }, verdict: "alive" },
    { liveness: { left: 15, ttl: 30 }, verdict: "alive" },
    { liveness: { left: 14, ttl: 30 }, verdict: "quiet" },
    { liveness: { left: 0, ttl: 30 }, verdict: "quiet" },
    { liveness: { left: 1, ttl: 2 }, verdict: "alive" },
    { liveness: { left: 30, ttl: 30, isShared: true }, verdict: "agent" },
    { liveness: { left: 14, ttl: 30, isShared: true }, verdict: "quiet" },
    { liveness: { left: 30, ttl: 30, isShared: false }, verdict: "alive" },
    { liveness: undefined, verdict: "gone" },
    { liveness: null, verdict: "unknown" },
  ])("$liveness is $verdict", ({ liveness, verdict }) => {
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
    { what: "nothing is known", ago: undefined, runners: [], verdict: "unknown", text: "seen never" },
    { what: "it was seen of late", ago: 1_000, runners: [], verdict: "alive", text: "seen in the last 5m" },
    { what: "it is silent", ago: 7_200_000, runners: [], verdict: "unknown", text: "seen 2h ago" },
    {
      what: "only its agent renews",
      ago: undefined,
      runners: ["agent", "quiet"] as const,
      verdict: "alive",
      text: "the agent of 1 of 2 runners there is alive",
    },
    {
      what: "one of its runners renews",
      ago: undefined,
      runners: ["alive", "quiet", "unknown"] as const,
      verdict: "alive",
      text: "1 of 2 runners there are alive",
    },
    {
      what: "all of its runners are late",
      ago: 1_000,
      runners: ["quiet", "gone"] as const,
      verdict: "quiet",
      text: "0 of 2 runners there are alive; seen in the last 5m",
    },
    {
      what: "nobody could be asked",
      ago: 1_000,
      runners: ["unknown"] as const,
      verdict: "alive",
      text: "seen in the last 5m",
    },
  ])("is $verdict where $what", ({ ago, runners, verdict, text }) => {
    const record = ago === undefined ? undefined : seen(ago);
    expect(judgeHostLiveness(record, runners.map(runner), NOW)).toEqual({ verdict, text });
  });
});
