import type { SignalboxError } from "../../base/errors.ts";

/** How the outer guardian ended: its exit code, or undefined when a signal ended it or it never started. */
export interface GuardianExit {
  code: number | undefined;
  /** Why it never started. */
  failure?: SignalboxError;
}

/** The two guardians of a command and the connection to them. */
export interface Guardian {
  /** Process id of the outer guardian, also its session id; undefined when it was not started, or is not known. */
  readonly pid: number | undefined;
  /** The only user whose processes may be killed for this command. Undefined: any that this process may kill. */
  readonly owner?: number | undefined;
  /** Resolves when both guardians have ended, and what they sent before has been delivered. Never rejects. */
  readonly ended: Promise<GuardianExit>;
  /** Sets the process id of the inner guardian. */
  setInnerPid(inner: number): void;
  /**
   * Wakes stopped guardians: a stopped guardian keeps no deadline.
   * @param isRoutine  nothing depends on it now: their deadlines have just been extended
   */
  wake(isRoutine?: boolean): void;
  /** Kills both guardians. Use it for stopped or frozen ones, which cannot receive frames. */
  kill(): void;
  /** Sends frames. Does nothing when the guardian has ended; `ended` reports that. */
  send(frames: Buffer): void;
  /** Ends a guardian that does not communicate, and at once everything that it guards. */
  close(): void;
}
