export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values that can be logged with a message. bigint is printed in decimal. */
export type LogFields = Record<string, string | number | bigint | boolean | undefined>;

/** The log of a run. Never writes to standard output, which belongs to the command. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
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
