import type { Duration } from "./claim-types.ts";
import type { Instant } from "./schedule-types.ts";

// Public types of one-off work: `signalbox.jobs`.

/** How a job runs. */
export interface JobOptions {
  /** Jobs with the same type and key are one: a second one is not added while the first is not done. */
  key?: string;
  /** A job with this key that was given up is replaced, with its dead letter. Default: it stays, and no job is added. */
  replaceDead?: boolean;
  /** When the job may start. Default: at once. */
  at?: Instant;
  /** How long it waits before it may start, instead of `at`. */
  delay?: Duration;
  /** A worker starts what has a higher priority first, of all that is due: -100 to 100. Default: 0. */
  priority?: number;
  /** How often a job that failed is started again before it becomes a dead letter. Default: 0. */
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
  /** Words for filters. */
  tags?: readonly string[];
}

/** A job that was added, or was there already. */
export interface JobReceipt {
  /** Id of the schedule that stands for the job: its type, a dot, and its key or a random text. */
  readonly id: string;
  /** False if a job with this key was not done yet; nothing was changed then. */
  readonly isNew: boolean;
  /** True if the job with this key was given up after its retries: it runs again only if it is replaced, or triggered. */
  readonly isDead: boolean;
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
}
