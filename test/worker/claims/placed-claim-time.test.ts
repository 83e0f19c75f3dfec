import { describe, expect, test } from "vitest";
import { SettableClock } from "../../../fixtures/worker/worker-fixture.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import type { Random } from "../../../src/core/base/random.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState } from "../../../src/schedule/state/due.ts";
import { CachedSchedule } from "../../../src/worker/cache/cached-schedule.ts";
import { computePlacedClaimTime } from "../../../src/worker/claims/claim-candidate.ts";
import { createLoadMeter } from "../../../src/worker/claims/load-meter.ts";

const DUE = 100_000;
const MINUTELY: Definition = { cron: "* * * * *", timezone: "UTC", place: "least-loaded" };

interface Claim {
  load: number;
  rank?: number;
  fraction?: number;
  freeSince?: number;
  definition?: Partial<Definition>;
  due?: Partial<DueState>;
}

/** Returns how late the worker claims, ms. */
function computeDelay({ load, rank = 0, fraction = 0, freeSince = 0, definition, due }: Claim) {
  const random: Random = { generateBytes: (n) => new Uint8Array(n), generateFraction: () => fraction };
  const entry = new CachedSchedule({ id: "x", host: undefined, since: undefined }, freeSince);
  entry.definition = { ...MINUTELY, ...definition };
  entry.due = { runAt: DUE, open: [], ...due };
  return computePlacedClaimTime(entry, { rank, runAt: DUE, load }, random) - DUE;
}

describe("a schedule for the least loaded host", () => {
  test("starts on time on an idle host, and later the higher the load is, at most after two seconds", () => {
    const delays = [0, 0.25, 0.5, 0.75, 1, 2, 4, 9, 1_000].map((load) => computeDelay({ load }));
    expect(delays).toEqual([0, 400, 600, 800, 1_000, 1_200, 1_600, 1_800, 1_800]);
    expect(computeDelay({ load: 1_000, rank: 9, fraction: 0.999_999 })).toBeLessThan(2_000);
  });

  test.each([0, 0.3, 2])(
    "with equal loads of %d, workers start by their ranks, before a busier one",
    (load) => {
      const [first = 0, ...others] = [0, 1, 2, 8].map(
        (rank) => computeDelay({ load, rank, fraction: 0.5 }) | 0,
      );
      expect(others.map((one) => one - first)).toEqual([100, 166, 166]);
      const last = computeDelay({ load, rank: 8, fraction: 0.999 });
      expect(last).toBeLessThan(computeDelay({ load: load + 1 }));
    },
  );

  test("counts from when it became free", () => {
    expect(computeDelay({ load: 1, freeSince: DUE + 5_000 })).toBe(6_000);
  });

  test("does not miss its deadline because of the load, and does not fall behind", () => {
    expect(computeDelay({ load: 9, definition: { deadline: 400 } })).toBe(180);
    const last = {
      scheduled: DUE - 1_000,
      startedAt: 0,
      endedAt: 0,
      late: 0,
      result: "ok",
      run: "r",
    } as const;
    expect(computeDelay({ load: 9, due: { next: DUE, last } })).toBe(225);
    expect(computeDelay({ load: 9, due: { next: DUE, last: { ...last, scheduled: DUE - 60_000 } } })).toBe(
      1_800,
    );
  });
});

describe("the load of a host", () => {
  test.each<[what: string, measures: Record<string, number>, taken: number, load: number]>([
    ["an idle host", { load: 0, CPU: 4, "pressure.cpu": 0 }, 0, 0],
    ["the load average, for each processor", { load: 6, CPU: 4, "pressure.cpu": 0 }, 0.5, 1.5],
    ["the pressure", { load: 1, CPU: 4, "pressure.cpu": 60 }, 0.5, 0.6],
    ["the slots that are taken", { load: 1, CPU: 4, "pressure.cpu": 60 }, 0.75, 0.75],
    ["a host that measures nothing", {}, 0.5, 0.5],
    ["values without meaning", { load: Number.NaN, CPU: 0, "pressure.cpu": -1 }, 0.5, 0.5],
  ])("%s", (_what, measures, taken, load) => {
    const measureLoad = createLoadMeter((name) => measures[name], new SettableClock(0));
    expect(measureLoad(taken)).toBe(load);
  });

  test("is measured once a second, and a measure that fails does not count", () => {
    const reads: string[] = [];
    let now = 0;
    const measure = (name: string) => {
      reads.push(name);
      if (name === "pressure.cpu") throw new ConfigError("this host does not measure pressure.cpu");
      return name === "load" ? 3 : 2;
    };
    const measureLoad = createLoadMeter(measure, {
      now: () => toMonotonicTime(now),
      getWallTime: () => 0,
      sleep: async () => {},
    });
    expect([measureLoad(0), measureLoad(1.75)]).toEqual([1.5, 1.75]);
    expect(reads.length).toBe(3);
    now = 1_000;
    measureLoad(0);
    expect(reads.length).toBe(6);
  });
});
