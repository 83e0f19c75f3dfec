import { uptime } from "node:os";
import {
  addMs,
  type BootTime,
  type Clock,
  type Millis,
  type MonotonicTime,
  subtractTime,
  toMonotonicTime,
} from "../base/clock.ts";

/** The boot-time clock advances in steps of 10 ms or more: a difference below this is not a suspend. */
const NOISE_MS = 50;
/**
 * Longest single timer. Timers stop during a suspend and are limited to 31 bits, so a long wait checks the clock in
 * between.
 */
const LONGEST_TIMER_MS = 30_000;

/** The time sources of the real clock; tests replace them. */
interface TimeSources {
  /** Monotonic milliseconds, without suspends. */
  readMonotonic(): number;
  /** Monotonic milliseconds, including suspends; coarse. */
  readBootTime(): number;
}

function readMonotonic(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/**
 * Creates a source of the boot-time clock that reads it once in each turn of the event loop, and adds the monotonic time
 * since. Each read opens and parses `/proc/uptime`, which costs a busy worker a twentieth of its processor time. Code that
 * has waited continues in another turn, so it notices a suspend at once.
 */
function createBootTimeReader(): () => number {
  let read: { booted: number; running: number } | undefined;
  const forget = () => {
    read = undefined;
  };
  return () => {
    const running = readMonotonic();
    if (read === undefined) {
      read = { booted: uptime() * 1000, running };
      setImmediate(forget).unref();
    }
    return read.booted + running - read.running;
  };
}

const machine: TimeSources = { readMonotonic, readBootTime: createBootTimeReader() };

/**
 * Creates the real clock. `now()` is the elapsed monotonic time plus the suspended time, which is the surplus of the
 * boot-time clock. The suspended time only grows, so `now()` never goes back.
 */
export function createRealClock(sources: TimeSources = machine): Clock {
  const startRunning = sources.readMonotonic();
  const startBooted = sources.readBootTime();
  let suspended = 0;
  const now = () => {
    const running = sources.readMonotonic() - startRunning;
    const more = sources.readBootTime() - startBooted - running;
    if (more > suspended + NOISE_MS) suspended = more;
    return toMonotonicTime(running + suspended);
  };
  return createClock(now);
}

/** Creates a clock from the boot-time clock itself, for a process that can read it cheaply. Its origin is the boot. */
export function createBootClock(readBootTime: () => BootTime): Clock {
  return createClock(readBootTime as unknown as () => MonotonicTime);
}

function createClock(now: () => MonotonicTime): Clock {
  return { now, getWallTime: () => Date.now(), sleep: (ms, signal) => sleep(now, ms, signal) };
}

/** @see Clock.sleep; after a suspend it resolves at most LONGEST_TIMER_MS late */
async function sleep(now: () => MonotonicTime, ms: Millis, signal?: AbortSignal): Promise<void> {
  const until = addMs(now(), ms);
  signal?.throwIfAborted();
  for (let left = ms; left > 0; left = subtractTime(until, now()))
    await waitForTimer(Math.min(left, LONGEST_TIMER_MS), signal);
}

function waitForTimer(ms: Millis, signal?: AbortSignal): Promise<void> {
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
