import { expect, test } from "vitest";
import { createRealClock } from "../../src/core/process/clock.ts";
import { InterruptibleSleep } from "../../src/worker/timer-queue.ts";

const LONG = 1_000_000;
const { signal: never } = new AbortController();

test.each<[name: string, act: (sleep: InterruptibleSleep, stop: AbortController) => void, ms: number]>([
  ["when its time is over", () => {}, 1],
  ["when it is woken", (sleep) => sleep.wake(), LONG],
  ["when the signal is aborted", (_, stop) => stop.abort(new Error("stopped")), LONG],
])("a sleep ends %s, and leaves no listener", async (_, act, ms) => {
  const sleep = new InterruptibleSleep(createRealClock());
  const stop = new AbortController();
  const added: unknown[] = [];
  const { signal } = stop;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    added.push(args[1]);
    add(...args);
  };
  signal.removeEventListener = (_name: string, listener: unknown) => {
    added.splice(added.indexOf(listener), 1);
  };
  const sleeping = sleep.sleep(ms, signal);
  expect(added).toHaveLength(1);
  act(sleep, stop);
  await sleeping;
  expect(added).toEqual([]);
});

test("a call before the sleep ends it at once, unless it was discarded", async () => {
  const sleep = new InterruptibleSleep(createRealClock());
  sleep.wake();
  await sleep.sleep(LONG, never);
  await sleep.sleep(LONG, never); // as long as nobody discards it
  sleep.reset();
  const sleeping = sleep.sleep(LONG, never).then(() => "over");
  expect(await Promise.race([sleeping, new Promise((resolve) => setImmediate(resolve, "asleep"))])).toBe(
    "asleep",
  );
  sleep.wake();
  expect(await sleeping).toBe("over");
});

test("a signal that is aborted already ends it at once", async () => {
  await new InterruptibleSleep(createRealClock()).sleep(LONG, AbortSignal.abort(new Error("stopped")));
});
