import { expect, test } from "vitest";
import { type Clock, toMonotonicTime } from "../../../../src/core/base/clock.ts";
import { ClockReading } from "../../../../src/core/etcd/session/horizon.ts";

test("a process that stands still between its readings sees no jump, then or later", () => {
  let [now, wall, stall] = [1_000, 5_000_000, 0];
  const pass = (ms: number) => {
    now += ms;
    wall += ms;
  };
  const clock: Clock = {
    now: () => toMonotonicTime(now),
    getWallTime: () => {
      const read = wall;
      pass(stall);
      stall = 0;
      return read;
    },
    sleep: () => Promise.reject(new Error("nothing waits here")),
  };
  stall = 3_000;
  const mark = new ClockReading(clock);
  pass(500);
  expect(mark.measureJump()).toBe(0);
  stall = 5_000;
  expect(mark.measureJump()).toBe(0);
  pass(500);
  expect(mark.measureJump()).toBe(0);
});
