export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values that can be logged with a message, by name. A bigint is printed in decimal. */
export type LogFields = Record<string, string | number | bigint | boolean | undefined>;

/**
 * Receives log messages with their fields; each level has a method. The logs of commands never write to standard output,
 * which belongs to the command that runs.
 */
export interface Log {
  /** Logs details for debugging. */
  debug(message: string, fields?: LogFields): void;
  /** Logs normal progress. */
  info(message: string, fields?: LogFields): void;
  /** Logs a problem that did not stop the work. */
  warn(message: string, fields?: LogFields): void;
  /** Logs a failure. */
  error(message: string, fields?: LogFields): void;
}

const discardMessage = () => {};

/** A log that discards everything. */
export const silentLog: Log = {
  debug: discardMessage,
  info: discardMessage,
  warn: discardMessage,
  error: discardMessage,
};
