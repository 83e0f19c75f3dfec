import { describe, expect, test } from "vitest";
import { playSchedule } from "../../fixtures/simulation/schedule.ts";
import { chunksOf, playAgentChunk, playChunk, playWorkerChunk, withoutStackTraces } from "./seeds.ts";

withoutStackTraces();

// Every seed is a schedule: runs, deaths, freezes, lost and repeated answers, operators. schedules.long.test.ts plays more,
// `npm run simulate` millions; a seed that fails here replays with: npm run simulate -- --seed N --trace
describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  test.each(chunksOf(250))("seeds from %i on keep every invariant", (first) => playChunk(first));

  test("a seed gives the same schedule every time", async () => {
    const stories = await Promise.all([4711, 4711].map(tell));
    expect(stories[0]?.length).toBeGreaterThan(20);
    expect(stories[1]).toEqual(stories[0]);
  });
});

describe("random schedules of runs that share a process, which combines their transactions", () => {
  test.each(chunksOf(250))("seeds from %i on keep every invariant", (first) =>
    playChunk(first, { combines: true }),
  );
});

describe("random schedules of agents that are killed, frozen and replaced while their runs go on", () => {
  test.each(chunksOf(250))("seeds from %i on keep every invariant", (first) => playAgentChunk(first));
});

describe("random schedules of workers, whose batches are lost, late and repeated", () => {
  // They are slow: worker-schedules.long.test.ts plays a thousand.
  test("the first seeds keep every invariant", () => playWorkerChunk(1, 25));
});

async function tell(seed: number): Promise<string[]> {
  const lines: string[] = [];
  await playSchedule(seed, { trace: (now, text) => lines.push(`${now} ${text}`) });
  return lines;
}
