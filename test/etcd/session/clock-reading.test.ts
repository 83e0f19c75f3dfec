import { expect, test } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { ClockReading } from "../../../src/etcd/session/horizon.ts";

/** A clock of a process that pauses between two reads. */
function createStallingClock() {
  let [now, wall, stall] = [1_000, 5_000_000, 0];
  const pass = (ms: number) => {
    now += ms;
    wall += ms;
  };
  const clock: Clock = {
    now: () => now,
    getWallTime: () => {
      const read = wall;
      pass(stall);
      stall = 0;
      return read;
    },
    sleep: () => Promise.reject(new Error("nothing waits here")),
  };
  return {
    clock,
    pass,
    jump: (ms: number) => {
      wall += ms;
    },
    stallNext: (ms: number) => {
      stall = ms;
    },
  };
}

test("a process that stands still between its readings sees no jump, then or later", () => {
  const { clock, pass, stallNext } = createStallingClock();
  stallNext(3_000);
  const mark = new ClockReading(clock);
  pass(500);
  expect(mark.measureJump()).toBe(0);
  stallNext(5_000);
  expect(mark.measureJump()).toBe(0);
  pass(500);
  expect(mark.measureJump()).toBe(0);
});

test("a jump of the wall clock is seen, also after one back", () => {
  const { clock, pass, jump } = createStallingClock();
  const mark = new ClockReading(clock);
  jump(-60_000);
  pass(100);
  expect(mark.measureJump()).toBe(0);
  jump(20_000);
  expect(mark.measureJump()).toBe(20_000);
});
