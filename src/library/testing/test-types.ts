import type { OccurrenceResult } from "../../schedule/state/outcome.ts";
import type { Signalbox } from "../signalbox.ts";
import type { Duration, Instant, TaskHandler, TaskMiddleware } from "../types.ts";

// Public types of tests without etcd: `openTestSignalbox`.

/** How a `TestSignalbox` begins. */
export interface TestOptions {
  /** The first time on its clock. Default: now. */
  now?: Instant;
  /** Full name of the host. Default: the name that the host gives itself. */
  host?: string;
  /** Macros of the host, for names and numbers of leases. */
  macros?: Readonly<Record<string, string | number>>;
}

/** Which tasks run, and with which functions. `T`: the data of tasks, by their type. */
export interface RunDueOptions<T extends object = Record<string, unknown>> {
  /** Handlers by type, as those of a Worker. Tasks without a handler stay due. */
  handlers: { readonly [K in keyof T]: TaskHandler<T[K]> };
  /** Functions around each handler, as those of a Worker. */
  middleware?: readonly TaskMiddleware[];
  /** Maximum number of tasks. More than these are probably an endless loop. Default: 1,000. */
  most?: number;
}

/** A task that `runDue` or `runUntil` ran. */
export interface FinishedTask {
  /** Id of the schedule. */
  readonly id: string;
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** Number of starts of this occurrence, including this one. */
  readonly attempt: number;
  /** How it ended. */
  readonly result: Extract<OccurrenceResult, "ok" | "failed" | "retry" | "released">;
  /** The error of the handler, if it threw one. */
  readonly error: unknown;
}

/** Locks, leases and schedules in memory, with a clock that the test sets. Nothing is stored, and no etcd is needed. */
export interface TestSignalbox extends Signalbox {
  /** The time on its clock, which stands still until a test changes it. */
  readonly now: Date;
  /** Sets the clock. It must not go back. @throws ConfigError */
  setTime(time: Instant): void;
  /** Moves the clock forward. @throws ConfigError */
  advance(by: Duration): void;
  /**
   * Runs all tasks that are due, one after the other, also those that become due meanwhile. A handler that throws fails its task, and
   * the call goes on. A task that a handler releases stays due.
   * @returns the tasks, in the order in which they ran
   * @throws UsageError if there are more than `most`; ConfigError
   */
  runDue<T extends object = Record<string, unknown>>(options: RunDueOptions<T>): Promise<FinishedTask[]>;
  /**
   * Runs what is due, then sets the clock to the next time of a schedule and runs what is due then, up to `time`.
   * @returns the tasks, in the order in which they ran
   * @throws the errors of `runDue`
   */
  runUntil<T extends object = Record<string, unknown>>(
    time: Instant,
    options: RunDueOptions<T>,
  ): Promise<FinishedTask[]>;
}
