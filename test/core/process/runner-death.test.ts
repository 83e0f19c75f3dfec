import { uptime } from "node:os";
import { expect, test } from "vitest";
import {
  createMark,
  createOutput,
  findGuardians,
  getFixturePath,
  startRunner,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import type { RunnerOptions } from "../../../fixtures/process/runner.ts";
import { PATIENCE, retryAfterStalls } from "../../../fixtures/steady.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";

/** Runs `one` for every item, three at a time. */
async function runInLanes<T, R>(items: T[], one: (item: T) => Promise<R>): Promise<R[]> {
  const todo = items.entries();
  const results: R[] = [];
  const runLane = async () => {
    for (const [at, item] of todo) results[at] = await one(item);
  };
  await Promise.all([runLane(), runLane(), runLane()]);
  return results;
}

const spinFor = async (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; ) await new Promise(setImmediate);
};

/** When a busy machine must be done with what takes some 50 ms, ms; the deadlines of these commands are 20 s away. */
const SOON = 15_000;

/** SIGKILLs a runner some milliseconds after it began to spawn. @returns the milliseconds until all was dead */
async function measureKill(ms: number) {
  const mark = createMark();
  const run = startRunner(mark, { command: [getFixturePath("process-tree.sh")] });
  await run.waitForEvent("spawning");
  await spinFor(ms);
  killProcess(run.pid, "SIGKILL");
  return waitUntilDead(mark, SOON);
}

test("a runner SIGKILLed at any instant takes everything with it within a second", async () => {
  const random = createTestRandom("runner-death");
  const instants = Array.from({ length: 30 }, (_, i) => (i < 15 ? i * 0.5 : random.drawBetween([8, 68])));
  const took = await runInLanes(instants, measureKill);
  expect(took.toSorted((a, b) => a - b)[took.length >> 1], "ms, the median").toBeLessThan(1000);
});

test("so does one that dies at a step of the start", async () => {
  const steps = ["spawned", "prepared", "ordered", "started"] satisfies RunnerOptions["dieAt"][];
  await runInLanes([...steps, ...steps], async (dieAt) => {
    const mark = createMark();
    await startRunner(mark, { command: [getFixturePath("process-tree.sh")], dieAt }).ended.catch(() => {});
    await waitUntilDead(mark, SOON);
  });
});

/** Writes the uptime, in seconds, every 10 ms or so. Ignores SIGTERM, and so does what it starts. */
const METRONOME = `trap "" TERM; while :; do read up idle </proc/uptime; echo $up >>$OUT; sleep 0.01; done`;

/** How long a metronome ran after an instant, s; of a beat that is late, it stood still, no more than 50 ms count. */
function measureRanAfter(instant: number, beats: readonly number[]) {
  const steps = beats.map((beat, at) => Math.min(beat - Math.max(beats[at - 1] ?? beat, instant), 0.05));
  return steps.reduce((sum, step) => sum + Math.max(step, 0), 0);
}

test("a frozen runner's command is dead by its deadline", ({ task }) => retryAfterStalls(task, testFrozen));

async function testFrozen() {
  const mark = createMark();
  const out = createOutput();
  // At `termIn` it ignores SIGTERM.
  const run = startRunner(
    mark,
    { command: ["sh", "-c", METRONOME], termIn: 4_000, killIn: 4_400 },
    { OUT: out.path },
  );
  const { killAtUptime = 0 } = await run.waitForEvent("started");
  const { outer, inner } = findGuardians(mark, run.pid);
  killProcess(run.pid, "SIGSTOP");
  await waitUntilDead(mark, PATIENCE, [run.pid, outer, inner]);
  expect(uptime(), "when all were dead").toBeGreaterThan(killAtUptime - 0.3);
  expect(measureRanAfter(killAtUptime, out.lines().map(Number)), "seconds").toBeLessThanOrEqual(0.1);
  killProcess(run.pid, "SIGCONT");
  expect(await run.ended).toExit(137);
}

test("a START whose deadline has passed starts nothing", async () => {
  const mark = createMark();
  const out = createOutput();
  const order = {
    termIn: 0,
    killIn: 0,
    command: ["sh", "-c", "echo ran >>$OUT"],
  } satisfies Partial<RunnerOptions>;
  const { code, stderr } = await startRunner(mark, order, { OUT: out.path }).ended;
  expect(code).toBe(125);
  expect(stderr.toString()).toContain("was not started");
  expect(out.lines()).toEqual([]);
});

test("an unfrozen runner hears how its command ended", async () => {
  const mark = createMark();
  const run = startRunner(mark, { command: ["sleep", "30"], termIn: 4_000, killIn: 4_200 });
  await run.waitForEvent("started");
  const { outer, inner } = findGuardians(mark, run.pid);
  const guards = [run.pid, outer, inner]; // they stay until the runner has heard how the command ended
  killProcess(run.pid, "SIGSTOP");
  await waitUntilDead(mark, PATIENCE, guards);
  expect(listMarkedProcesses(mark).map(({ pid }) => pid)).toEqual(guards);
  killProcess(run.pid, "SIGCONT");
  expect(await run.ended).toExit(143);
  await waitUntilDead(mark, SOON);
});
