import { EXIT, SignalboxError } from "../core/base/errors.ts";

// Errors that programs distinguish when they work with schedules, as in PerfectSched.

/** A schedule with this id already exists (exit 1). */
export class AlreadyExistsError extends SignalboxError {
  override readonly code = "ALREADY_EXISTS";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** No schedule with this id exists (exit 1). */
export class NotFoundError extends SignalboxError {
  override readonly code = "NOT_FOUND";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** The task is already finished (exit 1). */
export class AlreadyFinishedError extends SignalboxError {
  override readonly code = "ALREADY_FINISHED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/**
 * Another worker owns the task: the claim was lost, or the task was given back because no heartbeat came (exit 125).
 */
export class PreemptedError extends SignalboxError {
  override readonly code = "PREEMPTED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.lost, message, options);
  }
}

/** The request is not supported (exit 64). */
export class NotSupportedError extends SignalboxError {
  override readonly code = "NOT_SUPPORTED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.usage, message, options);
  }
}
