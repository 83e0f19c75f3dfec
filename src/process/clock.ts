import { uptime } from "node:os";
import type { Clock } from "../base/clock.ts";

/** The boot-time clock is read in steps of 10 ms or more: a difference below this is no suspend. */
const NOISE_MS = 50;
/** Timers stand still while the machine is suspended, and hold 31 bits: long waits look up from time to time. */
const LONGEST_TIMER_MS = 30_000;

/** Where the real clock reads time; tests replace it. */
export interface TimeSources {
  /** Monotonic milliseconds, which stand still during a suspend. */
  running(): number;
  /** Monotonic milliseconds, suspends included; coarse. */
  booted(): number;
}

const machine: TimeSources = {
  running: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  booted: () => uptime() * 1000,
};

/**
 * The real clock. `now()` is the elapsed monotonic time, plus the time spent suspended: what the boot-time clock
 * elapsed more. That sum only ever grows, so `now()` never goes back.
 */
export function realClock(sources: TimeSources = machine): Clock {
  const running0 = sources.running();
  const booted0 = sources.booted();
  let suspended = 0;
  const now = () => {
    const running = sources.running() - running0;
    const more = sources.booted() - booted0 - running;
    if (more > suspended + NOISE_MS) suspended = more;
    return running + suspended;
  };
  return { now, wall: () => Date.now(), sleep: (ms, signal) => sleep(now, ms, signal) };
}

/** @see Clock.sleep; after a suspend it resolves at most LONGEST_TIMER_MS late */
async function sleep(now: () => number, ms: number, signal?: AbortSignal): Promise<void> {
  const until = now() + ms;
  signal?.throwIfAborted();
  for (let left = ms; left > 0; left = until - now()) await timer(Math.min(left, LONGEST_TIMER_MS), signal);
}

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timeout);
      reject(signal?.reason);
    };
    const timeout = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, Math.ceil(ms));
    signal?.addEventListener("abort", stop, { once: true });
  });
}
