import { expect, test } from "vitest";
import { LONG_AGO, subtractTime, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";

function createSources(running = 1000, booted = 90_000) {
  const at = { running, booted };
  return { at, clock: createRealClock({ readMonotonic: () => at.running, readBootTime: () => at.booted }) };
}

test("now() counts what ran and what was suspended", () => {
  const { at, clock } = createSources();
  at.running += 5000;
  at.booted += 5000;
  expect(clock.now()).toBe(5000);
  at.booted += 60_000;
  expect(clock.now()).toBe(65_000);
  at.running += 10;
  at.booted += 10;
  expect(clock.now()).toBe(65_010);
});

test("the coarseness of the boot-time clock does not show, and now() never goes back", () => {
  const { at, clock } = createSources();
  let last = LONG_AGO;
  for (let i = 0; i < 1000; i++) {
    at.running += 1;
    at.booted = 90_000 + Math.floor((at.running - 1000) / 10) * 10 + (i > 500 ? 1000 : 0) + (i % 7);
    const now = clock.now();
    expect(now >= last).toBe(true);
    if (i <= 500) expect(now).toBe(at.running - 1000);
    last = now;
  }
  expect(last > toMonotonicTime(1950)).toBe(true);
});

test("many short suspends add up", () => {
  const { at, clock } = createSources();
  for (let i = 0; i < 100; i++) at.booted += 20;
  expect(clock.now()).toBe(2000);
});

test("the machine's own clock goes on", async () => {
  const clock = createRealClock();
  const before = clock.now();
  await clock.sleep(20);
  expect(subtractTime(clock.now(), before)).toBeGreaterThanOrEqual(20);
  expect(Math.abs(clock.getWallTime() - Date.now())).toBeLessThan(1000);
});

test("sleep() rejects with the signal's reason, before and during", async () => {
  const clock = createRealClock();
  const reason = new Error("enough");
  await expect(clock.sleep(10_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const sleeping = clock.sleep(2 ** 40, controller.signal);
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});
