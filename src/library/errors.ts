import { EXIT, SignalboxError } from "../core/base/errors.ts";
import type { OccurrenceResult } from "../schedule/state/outcome.ts";

// All errors of the library. Distinguish them by class or `code`. Errors of other modules are exported here too.

export { ConfigError, SignalboxError, TooLargeError, UsageError } from "../core/base/errors.ts";
export { BusyError, ClaimLostError } from "../core/run/claim-errors.ts";
export { CronError } from "../schedule/cron/cron.ts";
export {
  AlreadyExistsError,
  AlreadyFinishedError,
  NotFoundError,
  NotSupportedError,
  PreemptedError,
} from "../schedule/errors.ts";

/** etcd does not answer, or accepts no writes (exit 69). */
export class UnreachableError extends SignalboxError {
  override readonly code = "UNREACHABLE";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.unreachable, message, options);
  }
}

/** etcd refused the credentials, or they do not permit the call (exit 77). */
export class PermissionError extends SignalboxError {
  override readonly code = "PERMISSION";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.permission, message, options);
  }
}

/** The connection, or the source of tasks, was closed before (exit 64). */
export class ClosedError extends SignalboxError {
  override readonly code = "CLOSED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.usage, message, options);
  }
}

/**
 * A handler throws it to stop its Worker: the task is given back, no more tasks are taken, and `run` resolves when the running
 * tasks have ended (exit 1). PerfectSched has an error with this name.
 */
export class ProcessStopError extends SignalboxError {
  override readonly code = "PROCESS_STOP";
  constructor(message = "the process is to stop", options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** A time limit has passed: the reason of a task's signal after the `timeout` of its schedule (exit 124). */
export class TimeoutError extends SignalboxError {
  override readonly code = "TIMEOUT";
  constructor(message: string) {
    super(EXIT.timeout, message);
  }
}

/**
 * A job was given up (exit 1). The message has the name and the message of the error of its handler; the `cause` is that error, as it
 * was stored: with its `code`, if that is a text, and the first lines of its stack.
 */
export class JobFailedError extends SignalboxError {
  override readonly code = "JOB_FAILED";
  /** How its last run ended. */
  readonly result: OccurrenceResult;
  constructor(message: string, result: OccurrenceResult, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
    this.result = result;
  }
}

/** etcd refused a call for another reason than those of the other errors (exit 70). */
export class EtcdError extends SignalboxError {
  override readonly code = "ETCD";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.internal, message, options);
  }
}
