/** Memory that a worker has used for a burst of tasks goes back to the system, in a process of its own. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runTool } from "../../../fixtures/run-tool.ts";

const SOURCE = join(import.meta.dirname, "../../../src/worker/engine/memory-release.ts");

/** Fills the heap, ends tasks while the clock runs fast, and prints how much the heap holds before and after that. */
const SCRIPT = `
  import { getHeapStatistics } from "node:v8";
  import { MemoryRelease } from ${JSON.stringify(SOURCE)};
  const [count, isIdle] = process.argv.slice(1).map(Number);
  let now = 0, sleeps = 0;
  const clock = { now: () => now, sleep: async (ms) => {
    if (++sleeps > 5) return new Promise(() => {});
    now += ms;
  } };
  const release = new MemoryRelease(clock, () => isIdle === 1);
  let burst = Array.from({ length: 2_000_000 }, (_, n) => ({ n }));
  const before = getHeapStatistics().total_physical_size;
  burst = undefined;
  for (let task = 0; task < count; task += 1) release.handleEnd();
  await new Promise(setImmediate);
  console.log(JSON.stringify({ before, after: getHeapStatistics().total_physical_size, sleeps }));
`;

async function runBurst(count: number, isIdle: boolean) {
  const words = ["--input-type=module", "-e", SCRIPT, String(count), isIdle ? "1" : "0"];
  const { before, after, sleeps } = JSON.parse((await runTool`${process.execPath} ${words}`).stdout);
  return { isReleased: after < before / 4, sleeps };
}

test("a burst is released once, when the worker is idle", async () => {
  expect(await runBurst(1_000, true)).toEqual({ isReleased: true, sleeps: 1 });
});

test.each([
  ["few tasks release nothing", 999, true, 0],
  ["a worker that is not idle waits", 1_000, false, 6],
])("%s", async (_, count, isIdle, sleeps) => {
  expect(await runBurst(count, isIdle)).toEqual({ isReleased: false, sleeps });
});
