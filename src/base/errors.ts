/** Exit codes of every command, in one table. Codes 0–255 of a command that ran are passed through. */
export const EXIT = {
  ok: 0,
  /** Nothing was done: the operator said no, or `--strict` and there was nothing to do. */
  undone: 1,
  usage: 64,
  unreachable: 69,
  internal: 70,
  io: 74,
  busy: 75,
  permission: 77,
  config: 78,
  /** Something moved since the operator saw it: nothing was done. The same number as busy: try again. */
  changed: 75,
  timeout: 124,
  lost: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * What went wrong, said for the person who reads it: what, the value received, what to do.
 * The `cause` is for the log. Errors are told apart by class, `exitCode` or `code`, never by their text.
 */
export class SignalboxError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = exitCode;
  }
}

/** The command line is wrong (exit 64). */
export class UsageError extends SignalboxError {
  readonly code: string = "USAGE";

  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.usage, message, options);
  }
}

/** A setting, here or in etcd, is wrong (exit 78). */
export class ConfigError extends SignalboxError {
  readonly code: string = "CONFIG";

  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.config, message, options);
  }
}
