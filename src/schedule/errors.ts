import { EXIT, SignalboxError } from "../base/errors.ts";

// What programs that work with schedules must tell apart; PerfectSched's distinctions.

/** There is a schedule of this id already (exit 1). */
export class AlreadyExistsError extends SignalboxError {
  readonly code = "ALREADY_EXISTS";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** There is no schedule of this id (exit 1). */
export class NotFoundError extends SignalboxError {
  readonly code = "NOT_FOUND";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** The task was finished before (exit 1). */
export class AlreadyFinishedError extends SignalboxError {
  readonly code = "ALREADY_FINISHED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.undone, message, options);
  }
}

/** The task is another's now: its claim was lost, or given back for want of a heartbeat (exit 125). */
export class PreemptedError extends SignalboxError {
  readonly code = "PREEMPTED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.lost, message, options);
  }
}

/** What was asked for is not possible (exit 64). */
export class NotSupportedError extends SignalboxError {
  readonly code = "NOT_SUPPORTED";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.usage, message, options);
  }
}
