/** Runs race for one lock, and runners are killed in between: one holder at a time, each with a greater token. */

import { describe, expect, it } from "vitest";
import { findFallingTokens } from "../../../fixtures/cluster/job-journal.ts";
import { type KillTime, type ParallelRun, runInParallel } from "../../../fixtures/cluster/parallel-runs.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { pickCount } from "../../../fixtures/test-effort.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";

const LOCK = ["--lock", "nightly"];
const cluster = TestCluster.startForFile();
const random = createTestRandom("race");

/** How many runs, how many of them live at a time, and how many of how many are killed, at about the same time. */
const HTTP = {
  runs: pickCount(12, 200),
  workers: pickCount(6, 20),
  of: pickCount(6, 40),
  killed: pickCount(1, 3),
};
const GRPC = { runs: pickCount(8, 24), workers: pickCount(4, 8), of: pickCount(4, 8), killed: 1 };

describe.each([
  { transport: "http", ...HTTP },
  { transport: "grpc", ...GRPC },
] as const)("over $transport, $runs runs racing for one lock", ({ transport, runs, workers, of, killed }) => {
  it("never hold it together, and their tokens grow", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    await runInParallel(namespace, buildRuns(runs, of, killed), workers);
    const { journal } = namespace.jobs;
    expect(findFallingTokens(journal.listStarts()), journal.formatTimeline()).toEqual([]);
  });
});

/** Every fifth gives up when the lock is taken, the others queue. Some are killed: of so many, so many at a time. */
function buildRuns(runs: number, of: number, killed: number): ParallelRun[] {
  return Array.from({ length: runs }, (_, index): ParallelRun => {
    const place = index % of;
    return {
      name: `r${index}`,
      options: index % 5 === 4 ? LOCK : [...LOCK, "--wait"],
      hold: [1 + (index % 3)],
      killAt: place < killed ? pickKillTime(place === 0) : undefined,
    };
  });
}

/** A random instant: while its command runs, or in all of what a runner lives through. */
function pickKillTime(isHolder: boolean): KillTime {
  return isHolder
    ? { after: "start", ms: random.drawBetween([0, 30]) }
    : { after: "spawn", ms: random.drawBetween([0, 1_500]) };
}
