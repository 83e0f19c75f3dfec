/**
 * Workers are killed and frozen at random while schedules fire. Every occurrence runs, exactly once if its worker had no
 * fault, and never two at the same time if the schedule forbids it. `npm run chaos` does the same for minutes.
 */

import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findViolations, hasRunTogether, playChaos } from "../../../fixtures/schedule/chaos.ts";
import { SEED } from "../../../fixtures/test-seed.ts";

const cluster = TestCluster.startForFile();

const play = (change: Partial<Parameters<typeof playChaos>[0]>) =>
  playChaos({
    endpoints: [cluster.etcd.clientUrl],
    store: cluster.store,
    schedules: 60,
    steps: 6,
    workers: 3,
    ttl: 3,
    seed: 1,
    ...change,
  });

test.concurrent("three workers that nothing happens to run every occurrence exactly once", async () => {
  const report = await play({ steps: 4, ttl: 60 });
  expect(findViolations(report), report.complaints).toEqual([]);
  // A worker that stood still with the machine may have lost its claim, and another has run its task again.
  if (report.workerFaults.size === 0) expect(report.runs).toHaveLength(report.occurrences.length);
  // Beside the repeated ones: chains, runs at one time, calendars, backfills, and both hosts.
  const others = report.occurrences.filter((one) => !/^[sa]\d/.test(one));
  expect(others).toHaveLength(6 * (4 + 1 + 4 + 4 + 2 * 4));
  expect(report.afterEnds.map(({ ended }) => ended.length > 1)).toEqual(Array(6).fill(true));
  const together = Array.from({ length: 60 }, (_, n) => hasRunTogether(report, `s${n}`));
  expect(together.filter((_, n) => n % 2 === 0)).not.toContain(true); // forbid
  expect(together.filter((_, n) => n % 2 === 1)).toContain(true); // allow
});

test.concurrent("three workers that are killed and frozen lose none, and run none twice that was not theirs", async () => {
  const seed = SEED;
  const report = await play({ faultEvery: 1_000, seed });
  expect(findViolations(report), `seed ${seed}: ${report.complaints}`).toEqual([]);
  expect(report.faults, `seed ${seed}`).toBeGreaterThan(0);
});
