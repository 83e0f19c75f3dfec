/** Many runs that race for one lock, and some runners that are killed in between. */
import { expect } from "vitest";
import { fallingTokens, overfull } from "../../../fixtures/cluster/job-journal.ts";
import { complaints, crowd, type Doom, type Member } from "./parallel-runs.ts";
import type { Stage } from "./theatre.ts";

const LOCK = ["--lock", "nightly"];

export interface Race {
  runs: number;
  /** How many of them live at a time. */
  workers: number;
  /** Of so many runs, the first so many are killed, at about the same time. */
  killed: { of: number; together: number };
}

/** One holds the lock at a time, each with a larger token, and every run ends as it should. */
export async function race(stage: Stage, { runs, workers, killed }: Race): Promise<void> {
  const members = racers(runs, killed);
  const ends = await crowd(stage, members, workers);
  const { journal } = stage;
  expect(overfull(journal.lines(), 1), journal.timeline()).toEqual([]);
  expect(fallingTokens(journal.starts()), journal.timeline()).toEqual([]);
  const codes = ({ options }: Member) => (options.includes("--wait") ? [0] : [0, 75]);
  expect(complaints(members, ends, codes), journal.timeline()).toEqual([]);
}

/** Every fifth gives up when the lock is taken, the others queue. Some are killed: of so many, so many at a time. */
function racers(runs: number, killed: { of: number; together: number }): Member[] {
  return Array.from({ length: runs }, (_, index): Member => {
    const place = index % killed.of;
    return {
      name: `r${index}`,
      options: index % 5 === 4 ? LOCK : [...LOCK, "--wait"],
      hold: [1 + (index % 3)],
      doom: place < killed.together ? doom(place === 0) : undefined,
    };
  });
}

/** A random instant: while its command runs, or in all of what a runner lives through. */
function doom(isHolder: boolean): Doom {
  return isHolder
    ? { after: "start", ms: Math.random() * 30 }
    : { after: "spawn", ms: Math.random() * 1_500 };
}
