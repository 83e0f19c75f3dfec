import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { playSchedule } from "../../fixtures/simulation/schedule.ts";

// Every seed is a schedule: runs, deaths, freezes, lost and repeated answers, operators. `npm run simulate` plays
// millions; a seed that fails here replays with: npm run simulate -- --seed N --trace
const SCHEDULES = 20_000;
const CHUNK = 1_000;

// Most errors of a simulation are calls that got no answer: nobody reads where they were made, and to note it takes a fifth
// of the time.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  const chunks = Array.from({ length: SCHEDULES / CHUNK }, (_, index) => index * CHUNK + 1);

  test.each(chunks)("seeds from %i on keep every invariant", async (first) => {
    let grants = 0;
    for (let seed = first; seed < first + CHUNK; seed += 1) {
      const report = await playSchedule(seed);
      grants += report.grants;
      expect(report.violations, `seed ${seed}`).toEqual([]);
    }
    expect(grants, "the schedules must do something").toBeGreaterThan(CHUNK);
  });

  test("a seed gives the same schedule every time", async () => {
    const stories = await Promise.all([4711, 4711].map(tell));
    expect(stories[0]?.length).toBeGreaterThan(20);
    expect(stories[1]).toEqual(stories[0]);
  });
});

async function tell(seed: number): Promise<string[]> {
  const lines: string[] = [];
  await playSchedule(seed, (now, text) => lines.push(`${now} ${text}`));
  return lines;
}
