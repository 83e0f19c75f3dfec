import * as v from "valibot";
import { type Clock, formatIso, forwardAbort, NO_LONGER_NEEDED } from "../core/base/clock.ts";
import { isCount } from "../core/base/parse-json.ts";
import { MemoryStore } from "../core/etcd/memory/memory-store.ts";
import { createRealClock } from "../core/process/clock.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import { LibraryConnection } from "./connection.ts";
import { ConfigError, ProcessStopError, UsageError } from "./errors.ts";
import { DURATION, INSTANT, parseArgument, parseOptions, quoteOption } from "./options-schema.ts";
import { SignalboxImpl } from "./signalbox.ts";
import type {
  Duration,
  FinishedTask,
  Instant,
  RunDueOptions,
  Task,
  TaskSource,
  TestOptions,
  TestSignalbox,
  WorkerTask,
} from "./types.ts";
import { createHandlerCall, HANDLER_OPTIONS } from "./worker-handlers.ts";

/**
 * A wall clock that stands still until it is set. Its monotonic time is that of the machine, so sessions live as long as the
 * process. Setting it wakes all sleepers, because their time may have come.
 */
class TestClock implements Clock {
  readonly #real = createRealClock();
  #wall: number;
  #isSet = Promise.withResolvers<void>();

  /** @param wall  ms since the epoch */
  constructor(wall: number) {
    this.#wall = wall;
  }

  now() {
    return this.#real.now();
  }

  getWallTime() {
    return this.#wall;
  }

  /** @param wall  ms since the epoch */
  set(wall: number): void {
    this.#wall = wall;
    this.#isSet.resolve();
    this.#isSet = Promise.withResolvers();
  }

  async sleep(ms: number, signal?: AbortSignal) {
    const over = new AbortController();
    const stopForwarding = forwardAbort(signal, over);
    const timer = this.#real.sleep(ms, over.signal);
    timer.catch(() => {});
    try {
      await Promise.race([timer, this.#isSet.promise]);
    } finally {
      stopForwarding();
      over.abort(NO_LONGER_NEEDED);
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

class TestSignalboxImpl extends SignalboxImpl implements TestSignalbox {
  readonly #clock: TestClock;

  constructor(connection: LibraryConnection, clock: TestClock) {
    super(connection);
    this.#clock = clock;
  }

  get now() {
    return new Date(this.#clock.getWallTime());
  }

  setTime(time: Instant) {
    const wall = parseArgument("time", time, INSTANT);
    const now = this.#clock.getWallTime();
    if (wall < now)
      throw new ConfigError(
        `time: the clock cannot go back; got ${formatIso(wall)}, it is ${formatIso(now)}`,
      );
    this.#clock.set(wall);
  }

  advance(by: Duration) {
    this.#clock.set(this.#clock.getWallTime() + parseArgument("by", by, DURATION));
  }

  async runDue<T extends object>(options: RunDueOptions<T>) {
    const settings = parseOptions("runDue", options, RUN_OPTIONS);
    return await this.#withTasks(async (tasks, ran) => runDueTasks(tasks, settings, ran));
  }

  async runUntil<T extends object>(time: Instant, options: RunDueOptions<T>) {
    const end = parseArgument("time", time, INSTANT);
    const settings = parseOptions("runUntil", options, RUN_OPTIONS);
    return await this.#withTasks(async (tasks, ran) => {
      for (;;) {
        await runDueTasks(tasks, settings, ran);
        const now = this.#clock.getWallTime();
        if (now >= end) return;
        this.setTime(Math.min(end, await this.#findNextRun(now)));
      }
    });
  }

  /** Runs tasks of a source that does not stay open: it would keep the process of the test alive. */
  async #withTasks(work: (tasks: TaskSource, ran: FinishedTask[]) => Promise<void>) {
    const ran: FinishedTask[] = [];
    const tasks = await this.schedules.open();
    try {
      await work(tasks, ran);
    } finally {
      await tasks.close();
    }
    return ran;
  }

  /** Returns when the next schedule may run, ms since the epoch; infinity if none will. */
  async #findNextRun(now: number): Promise<number> {
    const schedules = await this.schedules.list();
    const times = schedules.flatMap(({ isPaused, nextRunTime }) =>
      isPaused ? [] : (nextRunTime?.getTime() ?? []),
    );
    return Math.min(Infinity, ...times.filter((time) => time > now));
  }
}

const MAX_RUNS = 1_000;

const RUN_OPTIONS = {
  ...HANDLER_OPTIONS,
  most: v.optional(v.custom<number>(isCount, quoteOption("is not a whole number of 0 or more")), MAX_RUNS),
} satisfies Record<keyof RunDueOptions, v.GenericSchema>;

/** Options that were checked. */
type RunSettings = v.InferOutput<v.StrictObjectSchema<typeof RUN_OPTIONS, undefined>>;

/** Runs tasks that are due. @param ran  the tasks so far, to which it adds @throws UsageError if they are too many */
async function runDueTasks(tasks: TaskSource, settings: RunSettings, ran: FinishedTask[]): Promise<void> {
  const kept: Task[] = [];
  try {
    for (;;) {
      const task = await tasks.poll();
      if (task === undefined) return;
      const handle = findHandler(settings, task.type);
      if (handle === undefined) {
        kept.push(task);
        continue;
      }
      if (ran.length >= settings.most) {
        kept.push(task);
        throw new UsageError(
          `more than ${settings.most} tasks are due, the next one of ${task.id}; set \`most\``,
        );
      }
      const finished = await runTask(task, handle);
      if (finished.result === "released") kept.push(task);
      ran.push(finished);
    }
  } finally {
    for (const task of kept) await task.release();
  }
}

function findHandler({ handlers, middleware }: RunSettings, type: string) {
  const found = Object.entries(handlers).find(([pattern]) => createTypeMatcher(pattern)(type));
  return found && createHandlerCall(found[1], middleware);
}

/** Runs a task and stores its result. A task that was released is given back later, because it would be due at once. */
async function runTask(task: Task, call: ReturnType<typeof createHandlerCall>): Promise<FinishedTask> {
  const { id, scheduledTime, attempt } = task;
  const end = (result: FinishedTask["result"], error?: unknown) => ({
    id,
    scheduledTime,
    attempt,
    result,
    error,
  });
  let asked: { wait?: Duration } | "released" | undefined;
  const facts: WorkerTask = {
    ...task,
    retry: (wait) => {
      asked ??= wait === undefined ? {} : { wait };
    },
    progress: () => {},
    release: () => {
      asked ??= "released";
    },
  };
  let result: unknown;
  try {
    result = await call(facts);
  } catch (error) {
    if (error instanceof ProcessStopError) return end("released", error);
    await task.fail(error instanceof Error ? error : String(error));
    return end("failed", error);
  }
  if (asked === "released") return end("released");
  await (asked === undefined ? task.finish(result) : task.retry(asked.wait));
  return end(asked === undefined ? "ok" : "retry");
}
