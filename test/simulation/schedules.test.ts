import { describe, expect, test } from "vitest";
import { playSchedule } from "../../fixtures/simulation/schedule.ts";
import { playAgentChunk, playChunk, playWorkerChunk, suppressStackTraces } from "./seeds.ts";

suppressStackTraces();

// Every seed is a schedule: runs, deaths, freezes, lost and repeated answers, operators. The long tests play these and more,
// `npm run simulate` millions; a seed that fails here replays with: npm run simulate -- --seed N --trace
const COUNT = 100;
describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  test("the first seeds keep every invariant", () => playChunk(1, {}, COUNT));

  test("a seed gives the same schedule every time", async () => {
    const stories = await Promise.all([4711, 4711].map(tell));
    expect(stories[0]?.length).toBeGreaterThan(20);
    expect(stories[1]).toEqual(stories[0]);
  });
});

test("random schedules of runs that share a process, which combines their transactions: the first seeds keep every invariant", () =>
  playChunk(1, { combines: true }, COUNT));

test("random schedules of agents that are killed, frozen and replaced while their runs go on: the first seeds keep every invariant", () =>
  playAgentChunk(1, COUNT));

describe("random schedules of workers, whose batches are lost, late and repeated", () => {
  test("the first seeds keep every invariant", () => playWorkerChunk(1, COUNT / 10)); // they are slow
});

async function tell(seed: number): Promise<string[]> {
  const lines: string[] = [];
  await playSchedule(seed, { trace: (now, text) => lines.push(`${now} ${text}`) });
  return lines;
}
