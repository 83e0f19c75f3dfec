import type { Clock } from "../../base/clock.ts";
import { OVER } from "../../base/wait.ts";
import { MemoryStore } from "../../etcd/memory/memory-store.ts";
import { createRealClock } from "../../process/clock.ts";
import { LibraryConnection } from "../connection.ts";
import { ConfigError } from "../errors.ts";
import { DURATION, INSTANT, parseArgument, parseOptions } from "../options-schema.ts";
import { createSignalbox, type Signalbox, shareConnection } from "../signalbox.ts";
import type {
  AcquireOptions,
  ClaimOptions,
  Duration,
  Held,
  Instant,
  JobQueue,
  LockHolder,
  RateOptions,
  Schedules,
  WatchOptions,
  Work,
} from "../types.ts";
import { RUN_OPTIONS, runDueTasks } from "./run-due.ts";
import type { FinishedTask, RunDueOptions, TestOptions, TestSignalbox } from "./test-types.ts";

/**
 * A wall clock that stands still until it is set. Its monotonic time is that of the machine, so sessions live as long as the
 * process. Setting it wakes whoever sleeps, because what they wait for may be due.
 */
class TestClock implements Clock {
  readonly #real = createRealClock();
  #wall: number;
  #isSet = Promise.withResolvers<void>();

  /** @param wall  ms since the epoch */
  constructor(wall: number) {
    this.#wall = wall;
  }

  now(): number {
    return this.#real.now();
  }

  getWallTime(): number {
    return this.#wall;
  }

  /** @param wall  ms since the epoch */
  set(wall: number): void {
    this.#wall = wall;
    this.#isSet.resolve();
    this.#isSet = Promise.withResolvers();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const timer = this.#real.sleep(ms, AbortSignal.any([over.signal, ...(signal ? [signal] : [])]));
    timer.catch(() => {});
    try {
      await Promise.race([timer, this.#isSet.promise]);
    } finally {
      over.abort(OVER);
    }
  }
}

/**
 * Opens locks, leases and schedules in memory, for tests of programs that use them. They behave as those of `connect`, and last as long
 * as the object. A Worker on it runs tasks when the clock is set.
 * @throws ConfigError for an option
 */
export function openTestSignalbox(options: TestOptions = {}): TestSignalbox {
  const { now = Date.now(), ...rest } = options;
  const clock = new TestClock(parseArgument("now", now, INSTANT));
  const store = MemoryStore.create(clock);
  return new TestSignalboxImpl(LibraryConnection.openWith({ clock, store }, rest), clock);
}

class TestSignalboxImpl implements TestSignalbox {
  readonly schedules: Schedules;
  readonly jobs: JobQueue;
  readonly #inner: Signalbox;
  readonly #clock: TestClock;

  constructor(connection: LibraryConnection, clock: TestClock) {
    this.#inner = createSignalbox(connection);
    this.#clock = clock;
    this.schedules = this.#inner.schedules;
    this.jobs = this.#inner.jobs;
    shareConnection(this, connection);
  }

  get now(): Date {
    return new Date(this.#clock.getWallTime());
  }

  setTime(time: Instant): void {
    const wall = parseArgument("time", time, INSTANT);
    const now = this.#clock.getWallTime();
    if (wall < now)
      throw new ConfigError(
        `time: the clock cannot go back; got ${new Date(wall).toISOString()}, it is ${new Date(now).toISOString()}`,
      );
    this.#clock.set(wall);
  }

  advance(by: Duration): void {
    this.#clock.set(this.#clock.getWallTime() + parseArgument("by", by, DURATION));
  }

  async runDue<T extends object>(options: RunDueOptions<T>): Promise<FinishedTask[]> {
    const ran: FinishedTask[] = [];
    await runDueTasks(this.schedules, parseOptions("runDue", options, RUN_OPTIONS), ran);
    return ran;
  }

  async runUntil<T extends object>(time: Instant, options: RunDueOptions<T>): Promise<FinishedTask[]> {
    const end = parseArgument("time", time, INSTANT);
    const settings = parseOptions("runUntil", options, RUN_OPTIONS);
    const ran: FinishedTask[] = [];
    for (;;) {
      await runDueTasks(this.schedules, settings, ran);
      const now = this.#clock.getWallTime();
      if (now >= end) return ran;
      this.setTime(Math.min(end, await this.#findNextRun(now)));
    }
  }

  /** Returns when the next schedule may run, ms since the epoch; infinity if none will. */
  async #findNextRun(now: number): Promise<number> {
    const schedules = await this.schedules.list();
    const times = schedules.flatMap(({ isPaused, nextRunTime }) =>
      isPaused ? [] : (nextRunTime?.getTime() ?? []),
    );
    return Math.min(Number.POSITIVE_INFINITY, ...times.filter((time) => time > now));
  }

  acquire(options: AcquireOptions): Promise<Held> {
    return this.#inner.acquire(options);
  }

  withLock<T>(lock: string, ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return rest.length === 1 ? this.#inner.withLock(lock, rest[0]) : this.#inner.withLock(lock, ...rest);
  }

  withLeases<T>(leases: readonly string[], ...rest: [Work<T>] | [ClaimOptions, Work<T>]): Promise<T> {
    return rest.length === 1
      ? this.#inner.withLeases(leases, rest[0])
      : this.#inner.withLeases(leases, ...rest);
  }

  watchLock(lock: string, options?: WatchOptions): AsyncGenerator<LockHolder | undefined, never> {
    return this.#inner.watchLock(lock, options);
  }

  limitRate(resource: string, options: RateOptions): Promise<void> {
    return this.#inner.limitRate(resource, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
