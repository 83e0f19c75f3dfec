import { expect, test } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { waitAtMost, waitForAbort } from "../../../src/core/base/clock.ts";

test.each([
  ["a promise that resolves in time", async () => {}, true],
  ["a promise that rejects in time", async () => Promise.reject(new Error("no")), true],
  ["a promise that is never settled", () => new Promise(() => {}), false],
])("waits at most for a time for %s", async (_, start, isSettled) => {
  const clock = new ManualClock();
  const waiting = waitAtMost(clock, 1_000, start());
  await clock.advance(1_000);
  expect(await waiting).toBe(isSettled);
});

test("waits for an abort, also one that has happened", async () => {
  const control = new AbortController();
  const waiting = waitForAbort(control.signal);
  control.abort();
  await waiting;
  await waitForAbort(control.signal);
});
