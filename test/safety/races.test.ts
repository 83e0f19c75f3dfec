/** Many runs race for one lock, and runners are killed in between: one at a time, each with a larger token. */
import { describe, expect, it } from "vitest";
import { complaints, crowd, type Doom, type Member } from "./support/crowd.ts";
import { fallingTokens, overfull } from "./support/journal.ts";
import { Theatre } from "./support/theatre.ts";

const LOCK = ["--lock", "nightly"];

const theatre = new Theatre();

describe.each([
  { transport: "http", runs: 200, workers: 20, killed: { of: 40, together: 3 } },
  { transport: "grpc", runs: 16, workers: 6, killed: { of: 8, together: 1 } },
] as const)("over $transport, $runs runs racing for one lock", ({ transport, runs, workers, killed }) => {
  it("never hold it together, and their tokens grow", async () => {
    const stage = await theatre.stage(transport);
    const members = racers(runs, killed);
    const ends = await crowd(stage, members, workers);
    const { journal } = stage;
    expect(overfull(journal.lines(), 1), journal.timeline()).toEqual([]);
    expect(fallingTokens(journal.starts()), journal.timeline()).toEqual([]);
    const codes = ({ options }: Member) => (options.includes("--wait") ? [0] : [0, 75]);
    expect(complaints(members, ends, codes), journal.timeline()).toEqual([]);
  });
});

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
