import type { Log } from "../core/base/log.ts";
import type { ExclusionRule } from "../schedule/calendar/day-rule.ts";
import type {
  Catchup,
  ChainCondition,
  HookName,
  JobConflictRule,
  JobState,
  Overlap,
  RemovalCondition,
} from "../schedule/definition-values.ts";
import type { OccurrenceResult } from "../schedule/state/outcome.ts";
import type { ClaimLostError } from "./errors.ts";

// Public types of schedules: `signalbox.schedules`.

/** An instant: a Date, whole milliseconds since the epoch, or an ISO 8601 text such as `2026-11-22T05:00Z`. */
export type Instant = Date | number | string;

/** The definition of a schedule. Only `cron` is required. */
export interface ScheduleFields {
  /**
   * A cron expression of five fields, a macro such as `@daily`, `@seconds` and six fields, `@rrule FREQ=WEEKLY;INTERVAL=2 from 2026-11-30T09:00`, `@every 90m` (a fixed rate, counted from 1970),
   * `@after-end 5m` (after the end of the last run), `@reboot`, `@at 2026-12-24T18:00Z` (once), or `@manual` (never by itself).
   * A list of cron expressions: it is due at the times of each, at the same instant once.
   */
  cron: string | readonly string[];
  /** Ids of schedules: it runs when each of them has ended since its last run. */
  after?: readonly string[];
  /**
   * How those must end. Default: `success`. Or `every-host`: each occurrence runs once on each host, or on each host of the
   * group.
   */
  on?: ChainCondition | "every-host";
  /** A worker starts what has a higher priority first, of all that is due: -100 to 100. Default: 0. */
  priority?: number;
  /** The schedule is removed when its last occurrence has succeeded, or has ended. Default: never. */
  removeAfter?: RemovalCondition;
  /** Names of calendars (`signalbox calendar add`), and times of the day such as `22:00-06:00`: it does not fire on the days of any of them, nor then. */
  except?: readonly string[];
  /** Names of calendars: it fires only on the days of any of them. */
  only?: readonly string[];
  /** What is due on an excluded day: `skip`, or `next` or `previous`: it moves to that day. Default: `skip`. */
  ifExcluded?: ExclusionRule;
  /** Words for filters. */
  tags?: readonly string[];
  /** Selects the handler. Default: the id up to its first dot. */
  type?: string;
  /** IANA name of the time zone of `cron`. Default: `UTC`. */
  timezone?: string;
  /** Data for the handler: any value that JSON preserves. */
  data?: unknown;
  /** An occurrence may be taken this long after its scheduled time. Default: 0. */
  delay?: Duration;
  /** Maximum of an additional delay, which is constant for each schedule. Default: 0. */
  jitter?: Duration;
  /** There are no occurrences after this instant. */
  end?: Instant;
  /** An occurrence that is later than this is skipped. */
  deadline?: Duration;
  /** A run is ended after this time. Default: no limit. */
  timeout?: Duration;
  /** How long a run should take: `5s..20m`, `5s..`, or `..20m`. Default: any time. */
  expect?: string;
  /** Pause before the first retry after a failure; doubled for each further one, up to an hour. Default: 30 s. */
  backoff?: Duration;
  /** How often an occurrence that failed is started again before it becomes a dead letter. Default: 0. */
  retries?: number;
  /** The schedule pauses itself when so many occurrences in a row became dead letters. Default: never. */
  pauseAfterFailures?: number;
  /** How many outcomes the history keeps, 1 to 100. Default: 20. */
  keep?: number;
  /** The history keeps no outcome that ended so much earlier than the newest one. Default: no limit. */
  keepFor?: Duration;
  /**
   * The history has what handlers returned, and stays so long after `removeAfter` has removed the schedule. Default: results are
   * not kept.
   */
  keepResult?: Duration;
  /** What happens to missed occurrences. Default: `latest`; of a schedule with `after`: `all`, each end counts. */
  catchup?: Catchup;
  /** What happens to an occurrence that is due while the previous one runs. Default: `forbid`. */
  overlap?: Overlap;
  /** Only hosts of this group take the schedule. */
  group?: string;
  /**
   * `least-loaded`: of the hosts that can start an occurrence, the one with the least load does. Default: the load does not matter, and
   * each schedule has an order of hosts of its own.
   */
  place?: "least-loaded";
  /** Conditions on the host, all of which must hold when an occurrence starts: `["load < CPU"]`. It waits until `deadline`. */
  if?: readonly string[];
  /** Leases that are held while an occurrence runs: `["db=2:10"]`. */
  leases?: readonly string[];
  /** A command that workers run, as argv, instead of a handler. */
  command?: readonly string[];
  /** Variables of the command, by name. */
  env?: Readonly<Record<string, string>>;
  /** Working folder of the command: an absolute path, or `~`, the home of its user. Default: the worker's. */
  folder?: string;
  /** Standard input of the command, instead of the task as JSON. */
  input?: string;
  /** The command runs a container, which ends with it. If no process of it is in the command's cgroup: a warning, or its end. */
  container?: "warn" | "end";
  /** An address, or a command as argv, for each event. Whoever runs the task calls it; commands only if it may: `hookCommands`. */
  hooks?: Readonly<Partial<Record<HookName, string | readonly string[]>>>;
  /** A text about the schedule, for its readers. */
  note?: string;
}

/** A new schedule. */
export interface NewSchedule extends ScheduleFields {
  /** The first occurrence is the first one at or after this instant. Default: now. */
  start?: Instant;
  /** When the first run may be taken, instead of the time that `cron`, `delay` and `jitter` give. */
  at?: Instant;
}

/** Changes of a schedule. A field that is `null` is removed, a field that is missing stays. */
export type ScheduleChanges = { [K in keyof ScheduleFields]?: ScheduleFields[K] | null };

/** Whose schedules `sync` declares. */
export interface SyncOptions {
  /** Name of the program or team that declares the schedules. They are stored as its own. */
  source: string;
  /** Whether schedules of this source that are not declared are deleted. Default: `true`. */
  prune?: boolean;
}

/** What `sync` did: ids of schedules, in order. */
export interface SyncResult {
  /** Ids of the schedules that did not exist. */
  readonly added: readonly string[];
  /** Ids of the schedules whose fields were different. */
  readonly changed: readonly string[];
  /** Ids of the schedules that were not declared any more. */
  readonly deleted: readonly string[];
}

/** A schedule and its state. Durations in ms. */
export interface Schedule {
  /** Id of the schedule. */
  readonly id: string;
  /** The type that selects the handler. */
  readonly type: string;
  /** The cron expression, or several, as they were given. */
  readonly cron: string | readonly string[];
  /** IANA name of the time zone. */
  readonly timezone: string;
  /** Delay after the scheduled time, ms. */
  readonly delay: number;
  /** Data for the handler. */
  readonly data: unknown;
  /** Scheduled time of the next occurrence; undefined if no occurrence will follow. */
  readonly nextTime: Date | undefined;
  /** When the next occurrence may be taken; undefined if there is none. */
  readonly nextRunTime: Date | undefined;
  /** Whether the schedule is paused now. */
  readonly isPaused: boolean;
  /** The last occurrence that ended, and its result; undefined if none has ended. */
  readonly last:
    | { readonly scheduledTime: Date; readonly endedAt: Date; readonly result: OccurrenceResult }
    | undefined;
  /** All fields as they are stored: durations in ms, instants in ms since the epoch. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** One start of an occurrence, as polled tasks and tasks of a Worker have it. `D`: the data of the schedule. */
export interface TaskFacts<D = unknown> {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The data of the schedule. It is what etcd has: nothing checks it against the type. */
  readonly data: D;
  /** The scheduled time of the occurrence, which is not the time of its start. */
  readonly scheduledTime: Date;
  /** Number of starts of this occurrence, including this one. Starts that were given back, also without their leases, do not count. */
  readonly attempt: number;
  /** Id of this start. */
  readonly run: string;
  /** The fencing token: a decimal number that grows from start to start of one schedule. */
  readonly token: string;
  /** The trace in which the job was added, as the headers of W3C Trace Context: `traceparent`, `tracestate`. */
  readonly trace?: Readonly<Record<string, string>>;
  /**
   * Aborted when the task is lost, canceled, or must end. The reason: a PreemptedError; in a Worker, also a TimeoutError, or a ClosedError when the
   * worker was closed.
   */
  readonly signal: AbortSignal;
  /** What the last start of this occurrence has saved with `checkpoint`. */
  readonly lastCheckpoint?: unknown;
  /**
   * Saves data for the next start of this occurrence, in case this one does not succeed. Each call is a write to etcd; calls at the
   * same time share one. After a success, etcd forgets it, and otherwise after 30 days.
   * @param data  any value that JSON preserves, of at most 16 KiB. It replaces the checkpoint before
   * @throws TooLargeError, NotSupportedError, UnreachableError, PermissionError; PreemptedError if the task belongs to another worker
   *   now. The checkpoint before stays
   */
  checkpoint(data: unknown): Promise<void>;
}

/**
 * A task that was polled. Its methods reject with an AlreadyFinishedError if the task was finished before, with a
 * PreemptedError if the task belongs to another worker now, with a NotFoundError if the schedule was deleted, and with an
 * UnreachableError if etcd does not answer.
 */
export interface Task<D = unknown> extends TaskFacts<D> {
  /**
   * Finishes the task. The next occurrence counts from the scheduled time.
   * @param result  kept if the schedule has `keepResult`: any value that JSON preserves, of at most 16 KiB
   * @throws TooLargeError, NotSupportedError for the result; the task is not finished then
   */
  finish(result?: unknown): Promise<void>;
  /**
   * Starts the same occurrence again later. This does not count as a failure.
   * @param wait  pause before the next start. Default: 5 minutes. After 100 times, it counts as a failure
   */
  retry(wait?: Duration): Promise<void>;
  /**
   * Reports a failure. The occurrence starts again if `retries` of the schedule allow it, otherwise it becomes a dead letter.
   * @param reason  a text for the history, cut after 300 characters; or an error, whose `code` and stack are kept too
   */
  fail(reason: string | Error): Promise<void>;
  /** Gives the task back. The same occurrence may be taken again at once, by any worker. */
  release(): Promise<void>;
  /** Reports that the program still works on the task. Needed only if `aliveTime` is set. */
  heartbeat(): Promise<void>;
}

/** How tasks are polled. */
export interface PollOptions {
  /**
   * A task without a heartbeat for this long is given back, at the next `poll`. Default: no heartbeats are needed while
   * the process lives.
   */
  aliveTime?: Duration;
}

/** Whether a poll waits. */
export interface PollWaitOptions {
  /** `true`: wait until a task is due. A duration: wait at most so long. Default: do not wait. */
  wait?: boolean | Duration;
  /** Ends the wait: the promise rejects with the reason of the signal. */
  signal?: AbortSignal;
}

/** Takes tasks one by one. A source that has lost its session opens another one with the next `poll`. */
export interface TaskSource {
  /**
   * Takes the task that has been due longest. Schedules with a command of their own are left to workers.
   * @returns undefined if nothing is due, or nothing came in time
   * @throws UnreachableError, PermissionError, ClosedError, ConfigError, the reason of `options.signal`
   */
  poll<D = unknown>(options?: PollWaitOptions): Promise<Task<D> | undefined>;
  /** Gives back the tasks that are not finished, and closes the source. */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The schedules of a prefix. All methods also reject with an UnreachableError, a PermissionError or a ClosedError, and with a
 * UsageError for an id that is not a name. Methods that change a schedule reject with a SignalboxError whose `code` is `CHANGED` if others change the same schedule all the time.
 */
export interface Schedules {
  /** Adds a schedule. @throws AlreadyExistsError, UsageError for a schedule that would never fire, ConfigError, CronError, NotSupportedError for `data` */
  add(id: string, schedule: NewSchedule): Promise<Schedule>;
  /**
   * Adds many schedules, in as few transactions as etcd accepts: one for about 1,800. Nothing is added if one of them is refused when
   * the call begins. If another program adds one of them meanwhile, or etcd fails, some may be added, each of them whole.
   * @param schedules  the fields of each schedule, by id
   * @returns the schedules, in the same order
   * @throws the errors of `add`, with a message that names all schedules that are refused
   */
  addMany(schedules: Readonly<Record<string, NewSchedule>>): Promise<Schedule[]>;
  /**
   * Adds a schedule, or replaces all its fields if it exists. It then keeps its state and its pause, and the time of its next
   * occurrence unless the fields change it; `start` and `at` matter only when it is added. Nothing is written if nothing changes.
   * @throws UsageError for a schedule that would never fire, ConfigError, CronError, NotSupportedError for `data`
   */
  set(id: string, schedule: NewSchedule): Promise<Schedule>;
  /**
   * Makes the schedules of a program match a declaration, in as few transactions as etcd accepts: adds what is missing, changes what differs, and
   * deletes what the program declared before and does not declare any more. A pause stays. Schedules of others are never changed.
   * `start` and `at` matter only for schedules that are added. A schedule with `removeAfter` whose last time has passed is not added.
   * @param declared  the fields of each schedule, by id
   * @throws UsageError for a schedule that would never fire, ConfigError for a field, or an id that exists and does not belong to `source`; CronError, NotSupportedError for `data`
   */
  sync(declared: Readonly<Record<string, NewSchedule>>, options: SyncOptions): Promise<SyncResult>;
  /** Reads one schedule. @throws NotFoundError */
  get(id: string): Promise<Schedule>;
  /** Reads all schedules. @returns the schedules, ordered by id */
  list(): Promise<Schedule[]>;
  /** Changes fields of a schedule. @throws NotFoundError, ConfigError, CronError, NotSupportedError for `data` */
  modify(id: string, changes: ScheduleChanges): Promise<Schedule>;
  /** Deletes a schedule and its state. @throws NotFoundError */
  delete(id: string): Promise<void>;
  /**
   * Pauses a schedule: it fires only when triggered.
   * @param options  `until`: when the schedule fires again by itself. `reason`: a text that listings show
   * @throws NotFoundError
   */
  pause(id: string, options?: { until?: Instant; reason?: string }): Promise<void>;
  /** Ends a pause. Occurrences of the time of the pause are not made up for. @throws NotFoundError */
  resume(id: string): Promise<void>;
  /**
   * Adds one run, which is due at once, and belongs to the active trace.
   * @param options  `ignoreCalendars`: also on a day that the calendars of the schedule exclude. Default: false
   * @throws NotFoundError; UsageError on such a day; ConfigError if a calendar is missing
   */
  trigger(id: string, options?: { ignoreCalendars?: boolean }): Promise<void>;
  /** Reads the outcomes and the dead letters of a schedule. @throws NotFoundError */
  history(id: string): Promise<ScheduleHistory>;
  /**
   * Runs dead letters again, at once.
   * @param times  the scheduled times of some. Default: all
   * @throws NotFoundError if one of them is not there
   */
  retryDead(id: string, times?: readonly Instant[]): Promise<void>;
  /**
   * Deletes dead letters. They do not run again.
   * @param times  the scheduled times of some. Default: all
   * @throws NotFoundError if one of them is not there
   */
  buryDead(id: string, times?: readonly Instant[]): Promise<void>;
  /**
   * Runs the occurrences of a past time, in order, beside the plan.
   * @throws NotFoundError; UsageError if there is none in this time, for more than 10,000, or while a backfill is under way
   */
  backfill(id: string, span: BackfillSpan): Promise<void>;
  /** Ends a backfill. Occurrences that have started run to their end. @throws NotFoundError */
  cancelBackfill(id: string): Promise<void>;
  /** Opens a source of tasks. Close it, or the connection. @throws ConfigError */
  open(options?: PollOptions): Promise<TaskSource>;
  /**
   * Takes the task that has been due longest, from a source that the first call opens and that closes with the connection. A poll
   * sees all changes that the same connection has made before.
   * @returns undefined if nothing is due, or nothing came in time
   * @throws ConfigError, the reason of `options.signal`
   */
  poll<D = unknown>(options?: PollWaitOptions): Promise<Task<D> | undefined>;
}

/** The days of a calendar. */
export interface CalendarDays {
  /**
   * Each a date (`2026-12-24`), a date of each year (`12-25`), a weekday (`sat`), or a range of dates
   * (`2026-12-24..2027-01-01`).
   */
  days: readonly string[];
  /** A text about the calendar, for its readers. */
  note?: string;
}

/** The calendars of a prefix: days on which schedules do not fire, or only fire. */
export interface CalendarStore {
  /** Lists the names of all calendars, in order. */
  list(): Promise<string[]>;
  /** Reads a calendar. @throws NotFoundError; UsageError if it cannot be read */
  get(name: string): Promise<CalendarDays>;
  /**
   * Adds a calendar, or replaces it. Schedules that use it change their next occurrence in the same transaction. Nothing is written if
   * nothing changes.
   * @throws UsageError for a day or a name, ConfigError
   */
  set(name: string, calendar: CalendarDays): Promise<void>;
  /** Deletes a calendar. @throws NotFoundError; UsageError if a schedule uses it */
  delete(name: string): Promise<void>;
}

/** The outcome of one start of an occurrence, or of occurrences that were skipped. */
export interface RunOutcome {
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** How it ended. */
  readonly result: OccurrenceResult;
  /** When it started; undefined if it was skipped. */
  readonly startedAt: Date | undefined;
  /** When it ended. */
  readonly endedAt: Date;
  /** Id of the start. */
  readonly run?: string;
  /** The host on which it ran. */
  readonly host?: string;
  /** Number of starts of this occurrence, including this one. */
  readonly attempt?: number;
  /** `overrun`: it took longer than the schedule expects (`expect`); `too-short`: it succeeded sooner. */
  readonly deviation?: "overrun" | "too-short";
  /** Exit code of the command, or status of the response to a request. */
  readonly code?: number;
  /** Why it ended so, for example the name and the message of an error. */
  readonly reason?: string;
  /** The `code` of the error that the handler threw. */
  readonly errorCode?: string;
  /** End of the output of a command, or the stack of the error that the handler threw. Only newer outcomes have it. */
  readonly tail?: string;
  /** What the handler returned, if the schedule has `keepResult`. Only the newest ten outcomes have it. */
  readonly value?: unknown;
  /** Number of occurrences that were skipped. */
  readonly count?: number;
}

/** What has ended of a schedule, newest first. If it runs on every host, of all hosts. */
export interface ScheduleHistory {
  /** The last outcomes. */
  readonly runs: readonly RunOutcome[];
  /** Dead letters: occurrences that were given up. */
  readonly dead: readonly RunOutcome[];
}

/** Which past occurrences `backfill` runs. */
export interface BackfillSpan {
  /** The first occurrence is the first one at or after this instant. */
  from: Instant;
  /** The last occurrence is the last one at or before this instant, which has passed. */
  to: Instant;
  /** How many run at a time; more than one only with the overlap `allow`. Default: 1. */
  parallel?: number;
}

/** A task that a Worker runs. The task is finished when the handler returns, and has failed when it throws. */
export interface WorkerTask<D = unknown> extends TaskFacts<D> {
  /** The host of the worker, if the schedule runs on every host. */
  readonly host?: string;
  /**
   * Makes the same occurrence start again later, once the handler has returned. This does not count as a failure.
   * @param wait  pause before the next start. Default: 5 minutes. After 100 times, it counts as a failure
   */
  retry(wait?: Duration): void;
  /**
   * Tells how far the task is: listings and the console show it. Written at most every two seconds, and only the newest text.
   * @param text  one line of at most 200 characters
   */
  progress(text: string): void;
  /** Gives the task back, once the handler has returned. The same occurrence may be taken again at once, by any worker. */
  release(): void;
}

/**
 * Runs a task of a Worker. A promise that it returns is awaited. What it returns is kept if the schedule has `keepResult`: any value
 * that JSON preserves, of at most 16 KiB. Other results are ignored.
 */
export type TaskHandler<D = unknown> = (task: WorkerTask<D>) => unknown;

/**
 * Runs around the handlers of a Worker, for example to measure or to log. `next` runs the next middleware, or the handler; it rejects
 * with the errors of these. A middleware that does not call it finishes the task without a handler; one that throws fails it.
 */
export type TaskMiddleware = (task: WorkerTask, next: () => Promise<void>) => unknown;

/** How a Worker works. `T`: the data of tasks, by their type: `{ mail: { to: string } }`. */
export interface WorkerOptions<T extends object = Record<string, unknown>> {
  /** Handlers by type: the exact text, or `/regular expression/`. The first handler whose type matches runs the task. */
  handlers: { readonly [K in keyof T]: TaskHandler<T[K]> };
  /** Functions around each handler. The first one is the outermost. */
  middleware?: readonly TaskMiddleware[];
  /** Maximum number of tasks that run at the same time. Default: 4. */
  concurrency?: number;
  /** Texts about the worker that `signalbox ls workers` shows. */
  tags?: readonly string[];
  /**
   * File of this host to which the worker also writes the outcomes of its tasks, for `signalbox ls history --archive`. The settings
   * `archiveSize` and `archiveCount` limit it. Several processes may write to it. A fault of the disk is logged. Default: none.
   */
  archiveFile?: string;
  /** How long the tasks outlive a process that vanished: whole seconds, at least 2 s. Default: that of the connection. */
  ttl?: Duration;
  /** How long before another worker can take a task its signal is aborted. Default: that of the connection. */
  terminationTimeout?: Duration;
}

// Public types of locks and leases: `import { connect } from "signalbox"`.

/** A duration: a whole number of milliseconds from 0 on, or a text such as `"30s"` or `"1h30m"`. */
export type Duration = number | string;

/** How a lock, leases, or both are claimed. The configuration gives the value of each option that is missing. */
export interface ClaimOptions {
  /**
   * `true`: wait until the claim is granted. A duration: wait at most so long. `false`: do not wait. Default: do not wait
   * for a held lock, but wait for leases.
   */
  wait?: boolean | Duration;
  /** Share the lock: hold it beside others that share it, and never beside one that does not. */
  shared?: boolean;
  /** Stops waiting: the promise rejects with the reason of the signal, and no ticket remains in a queue. */
  signal?: AbortSignal;
  /** Claim only if the host is a member of this group. The claim is lost when the host leaves the group. */
  group?: string;
  /** How long the claim outlives a process that vanished: whole seconds, at least 2 s. */
  ttl?: Duration;
  /** How long before another run can get the claim the signal is aborted. It must fit into `ttl`. */
  terminationTimeout?: Duration;
  /** The signal is aborted when the claim was held for this long. Default: no limit. */
  maxHold?: Duration;
  /** A text that `signalbox ls` shows beside the run. */
  label?: string;
  /** Whether the run is added to the history of the lock. Without it, the release costs one write less. */
  history?: boolean;
}

/** How often something may begin, over all programs and hosts. */
export interface RateOptions extends Pick<ClaimOptions, "wait" | "signal"> {
  /** How many may begin in each span of `per`. */
  max: number;
  /** The span. */
  per: Duration;
}

/** What is claimed: a lock, leases, or both at once. At least one of the two is required. */
export interface AcquireOptions extends ClaimOptions {
  /** Name of the lock; or several names: all of the locks are claimed at the same time, or none. */
  lock?: string | readonly string[];
  /** Leases in the syntax of `signalbox run --lease`, `RESOURCE=COUNT[:TOTAL]`: `["db=2:10"]`. Counts are in units. */
  leases?: readonly string[];
}

/** A claim that this process holds. */
export interface Held {
  /** The fencing token: a decimal number that grows from holder to holder. Have the systems that you write to compare it. */
  readonly token: string;
  /** Id of the run, as `signalbox ls` shows it. */
  readonly run: string;
  /** Name of the lock, the first of several; undefined if only leases are held. */
  readonly lock: string | undefined;
  /**
   * Aborted with a ClaimLostError when the claim is lost: end what relies on it at once. That is a termination timeout before
   * another run can get the claim, unless somebody took it by force.
   */
  readonly signal: AbortSignal & { readonly reason: ClaimLostError };
  /**
   * Asks etcd whether the claim still exists. Between the answer and what is done next anything can happen: where that matters, have
   * the system that you write to compare the `token`.
   * @throws UnreachableError
   */
  isCurrent(): Promise<boolean>;
  /** Frees the claim. A second call waits for the first. Never rejects: a claim that cannot be freed ends with its session. */
  release(): Promise<void>;
  /** Same as `release`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Who holds a lock. */
export interface LockHolder {
  /** The fencing token of the claim: a decimal number. */
  readonly token: string;
  /** Id of the run, which is that of `Held` in the process that holds the lock. */
  readonly run: string;
  /** Full name of its host. */
  readonly host: string;
  /** Id of its process on that host. */
  readonly pid: number;
  /** Name of its user. */
  readonly user: string;
  /** The label of the claim. */
  readonly label: string | undefined;
}

/** How something is watched. */
export interface WatchOptions {
  /** Ends the watch: the iteration throws the reason of the signal. */
  signal?: AbortSignal;
}

/** A function that runs while a claim is held. The claim is freed when it has ended. */
export type Work<T> = (held: Held) => T | Promise<T>;

// Public types of one-off work: `signalbox.jobs`.

/** How a job runs. */
export interface JobOptions {
  /** Jobs with the same type and key are one: a second one is not added while the first is not done. */
  key?: string;
  /** What happens if there is a job with this key. Default: `keep`. */
  ifExists?: JobConflictRule;
  /** When the job may start. Default: at once. */
  at?: Instant;
  /** How long it waits before it may start, instead of `at`. */
  delay?: Duration;
  /** A worker starts what has a higher priority first, of all that is due: -100 to 100. Default: 0. */
  priority?: number;
  /** How often a job that failed is started again before it becomes a dead letter. Default: 3. */
  retries?: number;
  /** Pause before the first retry; doubled for each further one, up to an hour. Default: 30 s. */
  backoff?: Duration;
  /** A run is ended after this time. Default: no limit. */
  timeout?: Duration;
  /** It does not start later than this after its time. Default: no limit. */
  deadline?: Duration;
  /** Only hosts of this group take the job. */
  group?: string;
  /** Leases that are held while it runs: `["db=2:10"]`. */
  leases?: readonly string[];
  /** A name: of the jobs with the same one, of any type, only one runs at a time. It holds the lease `queue.NAME=1:1`. */
  queue?: string;
  /**
   * How long its outcome and what the handler returned stay in etcd when it has succeeded, for `done()`. Default: they are removed with
   * the job.
   */
  keepResult?: Duration;
  /** Words for filters. */
  tags?: readonly string[];
  /** A URL, or a command as argv, for each event. */
  hooks?: ScheduleFields["hooks"];
}

/** A job of `addMany`. `T`: the data of jobs, by their type. */
export type NewJob<T extends object = Record<string, unknown>> = {
  [K in keyof T & string]: JobOptions & { type: K } & (undefined extends T[K]
      ? { data?: T[K] }
      : { data: T[K] });
}[keyof T & string];

/** A job that was added, or was there already. */
export interface JobReceipt {
  /** Id of the schedule that stands for the job: its type, a dot, and its key or a random text. */
  readonly id: string;
  /** Whether it was added, or has replaced the one with this key. False if that one was not done yet, and stays as it was. */
  readonly isNew: boolean;
  /** True if the job with this key was given up after its retries: it runs again only if it is replaced, or triggered. */
  readonly isDead: boolean;
  /**
   * Waits until the job has succeeded, which needs `keepResult`. It goes on while etcd is out of reach. Each waiting call reads
   * from etcd about once a second.
   * @returns what the handler returned; undefined if it returned nothing. `R`: its type, which nothing checks
   * @throws JobFailedError if the job was given up; TooLargeError, NotSupportedError if the job has succeeded, but its result could not
   *   be kept; NotFoundError if the job was deleted, or its outcome is not kept any more; UsageError without `keepResult`;
   *   ClosedError, the reason of `options.signal`
   */
  done<R = unknown>(options?: WatchOptions): Promise<R>;
}

/** A job that is not done, or whose outcome is kept. */
export interface Job {
  /** Id of the schedule that stands for the job. */
  readonly id: string;
  /** The type that selects the handler. */
  readonly type: string;
  /** Data for the handler; undefined when it was removed. */
  readonly data: unknown;
  /** What it waits for, or how it has ended. */
  readonly state: JobState;
  /** When it may start, also again; undefined while it runs, and when it has ended. */
  readonly runTime: Date | undefined;
  /** Number of failures since it was added. */
  readonly failures: number;
  /** What its handler has told with `task.progress`, while it runs. */
  readonly progress: string | undefined;
}

/** A job with its attempts. */
export interface JobDetails extends Job {
  /** The outcome of each of its starts, newest first: error, code and time. At most twenty; the last ones have the stack. */
  readonly attempts: readonly RunOutcome[];
}

/** When a job is to run. */
export interface JobMove {
  /** When it may start. Default: at once. */
  at?: Instant;
  /** How long it waits before it may start, instead of `at`. */
  delay?: Duration;
}

/** Which jobs are listed. */
export interface JobFilter {
  /** Only jobs of this type. */
  type?: string;
  /** Only jobs in this state. */
  state?: JobState;
}

/**
 * One-off work, done by the handlers of any `Worker`, `signalbox worker` or `schedules.poll`. A job is a schedule that is due
 * once and is deleted when it has succeeded, so `signalbox schedule`, listings, dead letters and hooks apply to it too.
 * `T`: the data of jobs, by their type: `const jobs: JobQueue<{ mail: { to: string } }> = signalbox.jobs`.
 */
export interface JobQueue<T extends object = Record<string, unknown>> {
  /**
   * Adds a job.
   * @param type  selects the handler
   * @param data  data for the handler: any value that JSON preserves
   * @throws UsageError for a type or key that is not a name, ConfigError for an option, NotSupportedError for `data`,
   *   TooLargeError, UnreachableError, PermissionError, ClosedError
   */
  add<K extends keyof T & string>(
    type: K,
    ...rest: undefined extends T[K] ? [data?: T[K], options?: JobOptions] : [data: T[K], options?: JobOptions]
  ): Promise<JobReceipt>;
  /**
   * Adds many jobs, in as few transactions as etcd accepts: some thousand jobs in one, sixty of those with a key. Each is written as
   * a whole. If the call fails, those of earlier transactions stay: call it again with the same keys, and it adds what is missing.
   * @returns the receipts, in the order of the jobs
   * @throws the errors of `add`; nothing is added if an option or data is wrong
   */
  addMany(jobs: readonly NewJob<T>[]): Promise<JobReceipt[]>;
  /**
   * Waits for a job that was added before, also by another program, as `done` of its receipt does.
   * @param id  the id in its receipt
   */
  done<R = unknown>(id: string, options?: WatchOptions): Promise<R>;
  /**
   * Reads one job, also after its end, as long as its outcome is kept (`keepResult`).
   * @param id  its type, a dot and its key: the id in its receipt
   * @throws NotFoundError
   */
  get(id: string): Promise<JobDetails>;
  /**
   * Cancels a job. If it waits, it is removed. If it runs, the `signal` of its task is aborted, and it is removed when its handler has
   * ended; it has succeeded if the handler returns a result all the same. It is not started again. Its outcome, and the audit, say
   * who has canceled it, and why. `done()` rejects with a JobFailedError.
   * @returns false if there is nothing to cancel: it was given up, or canceled before
   * @throws NotFoundError if it has ended, or there was none
   */
  cancel(id: string, options?: { reason?: string }): Promise<boolean>;
  /**
   * Runs a job at another time: one that is delayed, waits, or waits for a retry.
   * @throws NotFoundError; UsageError if it does not wait for a start
   */
  move(id: string, options?: JobMove): Promise<void>;
  /**
   * Reads the jobs that are not done, and those whose outcome is kept (`keepResult`). It reads all schedules of the prefix, and the ids
   * of their outcomes.
   * @returns the jobs, ordered by id
   * @throws ConfigError, UnreachableError, PermissionError, ClosedError
   */
  list(filter?: JobFilter): Promise<Job[]>;
  /** Counts the jobs by their state. It reads as much as `list`. */
  count(filter?: Pick<JobFilter, "type">): Promise<Record<JobState, number>>;
}

// The connection, `connect()`.

/**
 * How to reach etcd, how this process appears there, and defaults for claims. Settings that are missing are read from where the
 * command line reads them: `signalbox config` shows each value and its source.
 */
export interface ConnectOptions {
  /** Name of a context in the configuration files: settings of one of several clusters. The options here override it. */
  context?: string;
  /** Addresses of etcd's members. Default: `["http://127.0.0.1:2379"]`. */
  endpoints?: readonly string[];
  /** Beginning of all keys in etcd. Default: `/signalbox/`. */
  prefix?: string;
  /** How to speak to etcd. Default: `auto`, which is gRPC if the package etcd3 is installed. */
  transport?: "auto" | "http" | "grpc";
  /** How long etcd may be out of reach at the start, over all attempts; at least 100 ms. Default: 10 s. */
  connectTimeout?: Duration;
  /** Id of etcd's cluster, as `signalbox init` prints it. Answers of another cluster are refused. Default: the
   * cluster that this user remembers on this host for the same endpoints and prefix, as the command does. */
  clusterId?: string;
  /** User of etcd. */
  user?: string;
  /** Password of the user. */
  password?: string;
  /** A file with the password, which nobody else can read. It is read again if etcd refuses the password. */
  passwordFile?: string;
  /** Whether the password may be sent without TLS. Default: `false`. */
  allowPlaintextPassword?: boolean;
  /** File with the certificate of the authority that signed etcd's certificates. */
  cacert?: string;
  /** File with the own certificate. */
  cert?: string;
  /** File with the key of the own certificate. */
  key?: string;
  /** The name that etcd's certificate must have. Default: the name in the address. */
  serverName?: string;
  /** Whether any certificate is accepted; for tests only. Default: `false`. */
  insecureSkipTlsVerify?: boolean;
  /** Full name of this host. Default: the name that the host gives itself. */
  host?: string;
  /** Default for `group` of claims: claim only if the host is a member of this group. */
  group?: string;
  /** Macros of this host, for names and numbers of leases. */
  macros?: Readonly<Record<string, string | number>>;
  /** How long a claim outlives a process that vanished: whole seconds, at least 2 s. Default: 30 s. */
  ttl?: Duration;
  /** How long before another run can get a claim its signal is aborted. Default: 10 s. */
  terminationTimeout?: Duration;
  /** Default for `maxHold` of claims. Default: no limit. */
  maxHold?: Duration;
  /** How long claims wait for leases, unless `wait` says otherwise. Default: no limit. */
  leaseTimeout?: Duration;
  /** Whether runs are added to the histories of their locks. Default: `true`. */
  history?: boolean;
  /** Default for `label` of claims. */
  label?: string;
  /** Refuse changes of schedules, with a SignalboxError whose `code` is `PERMISSION`. Default: `false`. */
  readOnly?: boolean;
  /**
   * Whether hooks of schedules may run their commands in workers and sources of tasks of this connection: whoever may write schedules
   * chooses them. Hooks with an address are called in any case. Default: `false`.
   */
  hookCommands?: boolean;
  /** Path of the only configuration file to read. Default: the user's and the system's files. */
  config?: string;
  /** Variables to read settings from. Default: `process.env`; `{}` reads none. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Receives the log; `console` is accepted. Default: no log. */
  log?: Log;
}

/**
 * A connection: locks, leases and schedules of one prefix in etcd. A connection that holds nothing does not keep the process
 * alive. A claim, an open source of tasks and a worker do.
 */
export interface Signalbox {
  /**
   * Claims a lock, leases, or both, and holds them until `release`.
   * @throws BusyError if the claim is refused, or not granted in time; UnreachableError, PermissionError, UsageError for a
   *   name, ConfigError for an option, ClosedError, the reason of `options.signal`
   */
  acquire(options: AcquireOptions): Promise<Held>;
  /**
   * Runs `work` while it holds a lock, or several, and frees it when `work` has ended.
   * @returns what `work` returns
   * @throws the errors of `acquire` and of `work`; ClaimLostError if the claim was lost meanwhile. This error comes a termination
   *   timeout after the signal was aborted at the latest, even if `work` still runs, because a function cannot be killed
   */
  withLock<T>(lock: string | readonly string[], work: Work<T>): Promise<T>;
  withLock<T>(lock: string | readonly string[], options: ClaimOptions, work: Work<T>): Promise<T>;
  /**
   * Runs `work` while it holds leases, and frees them when `work` has ended.
   * @param leases  in the syntax of `signalbox run --lease`: `["db=2:10"]`
   * @returns what `work` returns
   * @throws the same errors as `withLock`
   */
  withLeases<T>(leases: readonly string[], work: Work<T>): Promise<T>;
  withLeases<T>(leases: readonly string[], options: ClaimOptions, work: Work<T>): Promise<T>;
  /**
   * Watches who holds a lock, for example who leads: yields the holder at the start (of those that share the lock, the first), undefined if
   * nobody holds it, and again after each change. It goes on while etcd is out of reach. Leaving the loop ends the watch. Changes in quick succession may be told as one.
   * @throws UsageError for a name; ConfigError, ClosedError, UnreachableError at the start, PermissionError, the reason of `options.signal`
   */
  watchLock(lock: string, options?: WatchOptions): AsyncGenerator<LockHolder | undefined, never>;
  /**
   * Waits until one more call, or whatever is limited, may begin: at most `max` in each span of `per`, over all programs and
   * hosts that name the same resource and the same `max`. `close` and the end of the process give back what they began, so a
   * program that starts again at once may exceed the limit.
   * @param resource  name of the resource that counts
   * @throws the errors of `acquire`
   */
  limitRate(resource: string, options: RateOptions): Promise<void>;
  /** The schedules of the prefix. */
  readonly schedules: Schedules;
  /** One-off work for the handlers of the prefix. */
  readonly jobs: JobQueue;
  /** The calendars of the prefix, for `except` and `only` of schedules. */
  readonly calendars: CalendarStore;
  /** Frees what is held, gives tasks back, and closes the connection. A second call waits for the first. */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

// Workers.

/** What a Worker reports, by the name of the event. Listeners are called while the worker works: they must return soon. */
export interface WorkerEvents {
  /** The worker has a session and starts to take tasks. `worker` is its id. */
  joined: { readonly worker: string };
  /** The session has ended. `reason` is undefined if the worker was stopped. */
  left: { readonly worker: string; readonly reason: string | undefined };
  /** A task has started. */
  started: TaskStarted;
  /** A running task takes longer than its schedule expects (`expect`). Once for each start. */
  overrun: TaskOverrun;
  /** A task has ended, and its result is stored. */
  ended: TaskEnded;
  /** Occurrences were missed and will not run. */
  skipped: TasksSkipped;
  /** The worker has no handler for this type of schedule. Reported once for each type. */
  unknown: { readonly id: string; readonly type: string };
  /**
   * The clock of this host differs from those of the others by `skew`, ms, positive if it is ahead. A worker whose clock `refuses` takes no
   * tasks.
   */
  clock: { readonly state: "ok" | "warns" | "refuses"; readonly skew: number };
  /** etcd's watch had lost changes of so many keys. They were read since. */
  lostChanges: { readonly keys: number };
  /** Number of tasks that run, and how many may run. */
  load: { readonly running: number; readonly concurrency: number };
}

/** The start of a task. */
export interface TaskStarted {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** Delay between the due time and the start, ms. */
  readonly late: number;
  /** Id of this start. */
  readonly run: string;
  /** Number of starts of this occurrence, including this one. */
  readonly attempt: number;
}

/** A task that takes longer than expected. */
export interface TaskOverrun extends Omit<TaskStarted, "late"> {
  /** How long it should take at most, ms. */
  readonly bound: number;
}

/** The end of a task. */
export interface TaskEnded {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** Id of this start; undefined if the worker that started it has vanished before it could tell. */
  readonly run: string | undefined;
  /** How it ended. */
  readonly result: OccurrenceResult;
  /** Why it ended so, for example the message of an error. */
  readonly reason: string | undefined;
  /** When the same occurrence starts again; undefined if it does not. */
  readonly nextTime: Date | undefined;
  /** Whether the occurrence has failed for good, and is now a dead letter. */
  readonly isDead: boolean;
}

/** Occurrences that will not run. */
export interface TasksSkipped {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the first of them. */
  readonly scheduledTime: Date;
  /** How many they are. */
  readonly count: number;
  /** Why they do not run, if it is known. */
  readonly reason: string | undefined;
}

// Cron expressions.

/** Where and when a cron expression is read. */
export interface CronOptions {
  /** IANA name of the time zone. Default: `UTC`. */
  timezone?: string;
  /** Only later times are listed; clock changes in the year after this instant are examined. Default: now. */
  from?: Instant;
}

/** Which times `listCronTimes` returns. */
export interface CronTimesOptions extends CronOptions {
  /** Maximum number of times, 1 to 10,000. There are fewer if the schedule ends. Default: 1. */
  count?: number;
}

/** A time at which a cron expression is due. */
export interface CronTime {
  /** The instant. */
  readonly time: Date;
  /** The time on local clocks, with the offset: `2026-03-29 03:00 CEST (+02:00)`. */
  readonly local: string;
  /** `gap`: the clocks skip a time of the expression before this one. `overlap`: the clocks show this time twice. */
  readonly mark: "gap" | "overlap" | undefined;
  /** What the clock change does to the expression; undefined without `mark`. */
  readonly note: string | undefined;
}

// Tests without etcd: `openTestSignalbox`.

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
