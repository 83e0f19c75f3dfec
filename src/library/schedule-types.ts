import type { Catchup, HookName, Overlap } from "../schedule/definition.ts";
import type { OccurrenceResult } from "../schedule/outcome.ts";
import type { Duration } from "./claim-types.ts";

// Public types of schedules: `signalbox.schedules`.

/** An instant: a Date, ms since the epoch, or an ISO 8601 text. */
export type Instant = Date | number | string;

/** What is kept about a schedule; everything but `cron` may be left out. */
export interface ScheduleFields {
  /** Five fields, or a macro such as `@daily`. */
  cron: string;
  /** Chooses the handler. Default: the id up to its first dot. */
  type?: string;
  /** An IANA name. Default: `UTC`. */
  timezone?: string;
  /** What the task gets: anything that JSON carries unchanged. */
  data?: unknown;
  /** After the nominal time. */
  delay?: Duration;
  /** Most of a further delay, always the same for this schedule. */
  jitter?: Duration;
  /** No occurrence is later. */
  end?: Instant;
  /** What is later than this is skipped. */
  deadline?: Duration;
  /** A run is ended then. */
  timeout?: Duration;
  /** Before the first retry; doubled for each further one. */
  backoff?: Duration;
  /** How often a failed occurrence is started again before it is given up. */
  retries?: number;
  /** What becomes of missed occurrences. Default: `all`. */
  catchup?: Catchup;
  /** What becomes of one that is due while the one before runs. Default: `forbid`. */
  overlap?: Overlap;
  /** Only hosts of this group take it. */
  group?: string;
  /** Held while it runs: `["db=2:10"]`. */
  leases?: readonly string[];
  /** Run by workers, as argv, instead of a handler. */
  command?: readonly string[];
  env?: Readonly<Record<string, string>>;
  hooks?: Readonly<Partial<Record<HookName, string | readonly string[]>>>;
  note?: string;
}

/** A new schedule. */
export interface NewSchedule extends ScheduleFields {
  /** The first occurrence is the first at or after this. Default: now. */
  start?: Instant;
  /** When the first run, and only that, may be taken. */
  at?: Instant;
}

/** What is to be changed; `null` takes a field away. */
export type ScheduleChanges = { [K in keyof ScheduleFields]?: ScheduleFields[K] | null };

/** A schedule and where it is. Durations in ms. */
export interface Schedule {
  readonly id: string;
  readonly type: string;
  readonly cron: string;
  readonly timezone: string;
  readonly delay: number;
  readonly data: unknown;
  /** Nominal time of the next occurrence; undefined: there is none any more. */
  readonly nextTime: Date | undefined;
  /** When that may be taken. */
  readonly nextRunTime: Date | undefined;
  readonly isPaused: boolean;
  /** How the last occurrence that ended came out. */
  readonly last:
    | { readonly scheduledTime: Date; readonly endedAt: Date; readonly result: OccurrenceResult }
    | undefined;
  /** Everything that was said about it, durations in ms, instants in ms since the epoch. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** What a task is about, whoever runs it. */
export interface TaskFacts {
  /** The schedule's id. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  /** The occurrence's nominal time, not when it was started. */
  readonly scheduledTime: Date;
  /** How often it was started, this time included. */
  readonly attempt: number;
  /** New for every start. */
  readonly run: string;
  /** The fencing token: grows from start to start of one schedule. */
  readonly token: string;
  /** Aborted when the task is lost, or must end. */
  readonly signal: AbortSignal;
}

/**
 * A task that was polled. Its methods reject with an AlreadyFinishedError when it was finished before, with a
 * PreemptedError when it now belongs to another worker, with a NotFoundError when its schedule was deleted.
 */
export interface Task extends TaskFacts {
  /** It is done. The next occurrence counts from the scheduled time. */
  finish(): Promise<void>;
  /** The same occurrence again after `wait`. Default: 5 minutes. */
  retry(wait?: Duration): Promise<void>;
  /** It failed: again as the schedule's retries allow. */
  fail(reason: string): Promise<void>;
  /** The same occurrence again at once, by anybody. */
  release(): Promise<void>;
  /** Says that it is worked on; needed only where `aliveTime` is set. */
  heartbeat(): Promise<void>;
}

/** How tasks are polled. */
export interface PollOptions {
  /** What a task gets between two heartbeats. Default: heartbeats are sent by themselves while the process lives. */
  aliveTime?: Duration;
}

/** Takes tasks one by one. */
export interface TaskSource {
  /** The task that has been due longest; undefined where nothing is due. Schedules with a command are left to workers. */
  poll(): Promise<Task | undefined>;
  /** Gives back what is not finished. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The schedules of a prefix. */
export interface Schedules {
  /** @throws AlreadyExistsError, ConfigError, UsageError (CronError for the cron text) */
  add(id: string, schedule: NewSchedule): Promise<Schedule>;
  /** @throws NotFoundError */
  get(id: string): Promise<Schedule>;
  /** All of them, by id. */
  list(): Promise<Schedule[]>;
  /** @throws NotFoundError, ConfigError, UsageError */
  modify(id: string, changes: ScheduleChanges): Promise<Schedule>;
  /** @throws NotFoundError */
  delete(id: string): Promise<void>;
  /** It fires no more, but for triggers. @throws NotFoundError */
  pause(id: string, options?: { until?: Instant; reason?: string }): Promise<void>;
  /** It fires again; what was missed is not made up for. @throws NotFoundError */
  resume(id: string): Promise<void>;
  /** One run more, at once. @throws NotFoundError */
  trigger(id: string): Promise<void>;
  /** Opens a source of tasks; close it, or the whole connection. */
  open(options?: PollOptions): Promise<TaskSource>;
  /** `poll` of a source that is opened with the first call, and closed with the connection. */
  poll(): Promise<Task | undefined>;
}

/** A task that a Worker runs. Returning finishes it, throwing fails it. */
export interface WorkerTask extends TaskFacts {
  /** Makes the outcome, once the handler has returned: the same occurrence again after `wait`. */
  retry(wait?: Duration): void;
  /** Makes the outcome: the same occurrence again at once, by anybody. */
  release(): void;
}

export type TaskHandler = (task: WorkerTask) => unknown;

/** How a Worker works. */
export interface WorkerOptions {
  /** By type: the exact text, or `/regular expression/`. The first that matches takes a task. */
  handlers: Readonly<Record<string, TaskHandler>>;
  /** Tasks at once. Default: 4. */
  concurrency?: number;
  /** Words that others are shown. */
  tags?: readonly string[];
  ttl?: Duration;
  terminationTimeout?: Duration;
}
