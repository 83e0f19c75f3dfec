import { afterAll, beforeAll, expect } from "vitest";
import { playAgentSchedule } from "../../fixtures/simulation/agent/agent-schedule.ts";
import {
  playSchedule,
  type ScheduleOptions,
  type SimulationReport,
} from "../../fixtures/simulation/schedule.ts";
import { playWorkerSchedule } from "../../fixtures/simulation/workers/worker-schedule.ts";

export const CHUNK = 250;

/** The first seed of each chunk. */
export function listChunks(schedules: number, chunk = CHUNK): number[] {
  return Array.from({ length: schedules / chunk }, (_, index) => index * chunk + 1);
}

/** Plays the schedules of a chunk. */
export async function playChunk(first: number, options: ScheduleOptions = {}, count?: number): Promise<void> {
  await playAll(first, (seed) => playSchedule(seed, options), count);
}

/** Plays the schedules of a chunk with agents. */
export async function playAgentChunk(first: number, count?: number): Promise<void> {
  await playAll(first, playAgentSchedule, count);
}

/** Plays the schedules of a chunk with workers. */
export async function playWorkerChunk(first: number, count?: number): Promise<void> {
  await playAll(first, playWorkerSchedule, count);
}

async function playAll(first: number, play: (seed: number) => Promise<SimulationReport>, count = CHUNK) {
  let grants = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const report = await play(seed);
    grants += report.grants;
    expect(report.violations, `seed ${seed}`).toEqual([]);
  }
  expect(grants, "the schedules must do something").toBeGreaterThan(count);
}

/**
 * For the tests of a file. Most errors of a simulation are calls that got no answer: nobody reads where they were made,
 * and to note it takes a fifth of the time.
 */
export function suppressStackTraces(): void {
  const { stackTraceLimit } = Error;
  beforeAll(() => {
    Error.stackTraceLimit = 0;
  });
  afterAll(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}
