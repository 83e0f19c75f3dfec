/** Exit codes of all commands. The exit codes 0–255 of a command that ran are passed through. */
export const EXIT = {
  ok: 0,
  /** Nothing was done: the operator declined, or `--strict` was set and there was nothing to do. */
  undone: 1,
  usage: 64,
  unreachable: 69,
  internal: 70,
  io: 74,
  busy: 75,
  permission: 77,
  config: 78,
  /** Nothing was done, because the state changed after the operator saw it. Same number as busy: try again. */
  changed: 75,
  timeout: 124,
  lost: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

/** The `code` of errors without their own class, by exit code. */
const ERROR_CODES: Readonly<Record<number, string>> = {
  [EXIT.undone]: "UNDONE",
  [EXIT.usage]: "USAGE",
  [EXIT.unreachable]: "UNREACHABLE",
  [EXIT.io]: "IO",
  [EXIT.busy]: "CHANGED",
  [EXIT.permission]: "PERMISSION",
  [EXIT.config]: "CONFIG",
  [EXIT.timeout]: "TIMEOUT",
  [EXIT.lost]: "LOST",
};

/**
 * An error for the user: the message says what is wrong, which value was received, and what to do.
 * The `cause` is for the log. Distinguish errors by class, `exitCode` or `code`, never by their text.
 */
export class SignalboxError extends Error {
  /** The exit code that the command line has for this error. */
  readonly exitCode: number;
  /** The kind of error: words in capitals. */
  readonly code: string;

  constructor(exitCode: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.code = ERROR_CODES[exitCode] ?? "FAILED";
  }
}

/** A call is wrong: the command line, an argument or a name (exit 64). */
export class UsageError extends SignalboxError {
  /** `USAGE`, or the code of a class that extends this one. */
  override readonly code: string = "USAGE";

  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.usage, message, options);
  }
}

/** A setting, an option or a field is wrong, in the local configuration, in a call or in etcd (exit 78). */
export class ConfigError extends SignalboxError {
  /** `CONFIG`, or the code of a class that extends this one. */
  override readonly code: string = "CONFIG";

  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.config, message, options);
  }
}

/** The data is larger than etcd accepts: 1.5 MiB for a call by default (exit 78). Nothing was written. */
export class TooLargeError extends SignalboxError {
  override readonly code = "TOO_LARGE";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.config, message, options);
  }
}

/** Returns the message of a thrown value. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Describes why a file cannot be used. Omits the system call and the path of Node's message, because callers name the
 * path.
 */
export function describeFileError(error: unknown): string {
  const { message } = error as Error;
  const [, code, text] = /^(E[A-Z0-9]+): ([^,]+)/.exec(message) ?? [];
  return text === undefined ? message : `${text} (${code})`;
}
