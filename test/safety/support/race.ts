/** Many runs that race for one lock, and some runners that are killed in between. */

import { expect } from "vitest";
import { findFallingTokens } from "../../../fixtures/cluster/job-journal.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { findUnexpectedEnds, type KillTime, type ParallelRun, runInParallel } from "./parallel-runs.ts";

const LOCK = ["--lock", "nightly"];
const random = createTestRandom("race");

export interface Race {
  runs: number;
  /** How many of them live at a time. */
  workers: number;
  /** Of so many runs, the first so many are killed, at about the same time. */
  killed: { of: number; together: number };
}

/** One holds the lock at a time, each with a larger token, and every run ends as it should. */
export async function runRace(namespace: TestNamespace, { runs, workers, killed }: Race): Promise<void> {
  const members = buildRuns(runs, killed);
  const ends = await runInParallel(namespace, members, workers);
  const { journal } = namespace.jobs;
  expect(journal.findOveruse()).toEqual([]);
  expect(findFallingTokens(journal.listStarts()), journal.formatTimeline()).toEqual([]);
  const listExpectedCodes = ({ options }: ParallelRun) => (options.includes("--wait") ? [0] : [0, 75]);
  expect(findUnexpectedEnds(members, ends, listExpectedCodes), journal.formatTimeline()).toEqual([]);
}

/** Every fifth gives up when the lock is taken, the others queue. Some are killed: of so many, so many at a time. */
function buildRuns(runs: number, killed: { of: number; together: number }): ParallelRun[] {
  return Array.from({ length: runs }, (_, index): ParallelRun => {
    const place = index % killed.of;
    return {
      name: `r${index}`,
      options: index % 5 === 4 ? LOCK : [...LOCK, "--wait"],
      hold: [1 + (index % 3)],
      killAt: place < killed.together ? pickKillTime(place === 0) : undefined,
    };
  });
}

/** A random instant: while its command runs, or in all of what a runner lives through. */
function pickKillTime(isHolder: boolean): KillTime {
  return isHolder
    ? { after: "start", ms: random.drawBetween([0, 30]) }
    : { after: "spawn", ms: random.drawBetween([0, 1_500]) };
}
