export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values that can be logged beside a message. bigint is printed in decimal. */
export type LogFields = Record<string, string | number | bigint | boolean | undefined>;

/** Where a run says what it does. Never standard output, which belongs to the command. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const nothing = () => {};

/** A log that keeps nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
