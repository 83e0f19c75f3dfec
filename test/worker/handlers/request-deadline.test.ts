/** When a request of a task is aborted, on a clock that the test advances. */

import { expect, test } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { createTask } from "../../../fixtures/worker/handler-fixture.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { TaskLost } from "../../../src/worker/handler.ts";
import { RequestDeadline } from "../../../src/worker/handlers/http-handler.ts";

const HOUR = 3_600_000;

/** A task on a manual clock. @param horizon  ms from the start of the clock */
function createDeadline(horizon: number) {
  const clock = new ManualClock();
  const state = { horizon, onExtended: () => {} };
  const task = {
    ...createTask(),
    getHorizon: () => toMonotonicTime(state.horizon),
    onExtended(listener: () => void) {
      state.onExtended = listener;
      return () => {};
    },
  };
  const extend = (to: number) => {
    state.horizon = to;
    state.onExtended();
  };
  return { clock, task, extend, deadline: new RequestDeadline(clock, task) };
}

test("half a second before the horizon, wherever it has moved", async () => {
  const { clock, deadline, extend } = createDeadline(10_000);
  await deadline.start(HOUR);
  await clock.advance(9_000);
  extend(20_000);
  await clock.advance(10_499);
  expect([deadline.signal.aborted, deadline.ending]).toEqual([false, undefined]);
  await clock.advance(1);
  expect([deadline.signal.aborted, deadline.ending]).toEqual([true, "horizon"]);
  expect(clock.pending).toBe(0);
});

test("a renewal that was not told counts too", async () => {
  const { clock, task, deadline } = createDeadline(10_000);
  await deadline.start(HOUR);
  task.getHorizon = () => toMonotonicTime(12_000);
  await clock.advance(11_499);
  expect(deadline.ending).toBeUndefined();
  await clock.advance(1);
  expect(deadline.ending).toBe("horizon");
});

test("at the timeout, which counts from the start of the request", async () => {
  const { clock, deadline, extend } = createDeadline(100);
  const started = deadline.start(3_000);
  await clock.advance(5_000);
  extend(HOUR);
  await clock.advance(100);
  await started;
  await clock.advance(2_999);
  expect(deadline.ending).toBeUndefined();
  await clock.advance(1);
  expect([deadline.signal.aborted, deadline.ending]).toEqual([true, "timeout"]);
});

test("when the task ends, also before the start", async () => {
  const { deadline, task } = createDeadline(HOUR);
  await deadline.start(HOUR);
  task.end("replaced");
  expect([deadline.signal.aborted, deadline.ending]).toEqual([true, "task"]);
  const other = createDeadline(HOUR);
  other.task.end("lost");
  await expect(other.deadline.start(HOUR)).rejects.toBeInstanceOf(TaskLost);
  expect(other.clock.pending).toBe(0);
});

test("not after the request is over", async () => {
  const { clock, deadline, task } = createDeadline(10_000);
  await deadline.start(5_000);
  deadline.close();
  task.end("lost");
  await clock.advance(HOUR);
  expect([deadline.signal.aborted, deadline.ending, clock.pending]).toEqual([false, undefined, 0]);
});
