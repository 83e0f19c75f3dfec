import { expect, test } from "vitest";
import { ManualClock } from "../../fixtures/manual-clock.ts";
import { createRunKiller } from "../../src/agent/run-killer.ts";

test("a search that takes longer than a caller waits is not begun again: the next caller gets its result", async () => {
  const clock = new ManualClock();
  const searches: PromiseWithResolvers<void>[] = [];
  const killRun = createRunKiller(clock, () => {
    searches.push(Promise.withResolvers());
    return searches.at(-1)?.promise as Promise<void>;
  });
  const early = killRun("run");
  await clock.advance(10_000);
  expect(await early).toBe(false);
  searches[0]?.resolve();
  expect(await killRun("run")).toBe(true);
  expect(searches).toHaveLength(1);
});

test("a search that has failed is begun again", async () => {
  let searches = 0;
  const killRun = createRunKiller(new ManualClock(), async () => {
    searches += 1;
    if (searches === 1) throw new Error("/proc cannot be read");
  });
  await expect(killRun("run")).rejects.toThrow("/proc cannot be read");
  expect(await killRun("run")).toBe(true);
});
