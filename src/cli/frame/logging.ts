import { closeSync, constants, openSync, writeSync } from "node:fs";
import { ConfigError, describeFileError } from "../../core/base/errors.ts";
import type { Log, LogFields, LogLevel } from "../../core/base/log.ts";
import { clean, pluralize } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import type { Call, CommandIo } from "./command.ts";
import { formatJsonLine } from "./json-output.ts";

/** Instead of a descriptor: nothing is written any more. */
const CLOSED_DESCRIPTOR = -1;
const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface LogOptions {
  /** Undefined for standard error. */
  file: string | undefined;
  level: LogLevel;
  format: "text" | "json";
  /** Writes nothing to standard error. */
  isQuiet: boolean;
  /** Writes to standard error, if that is not this process's own. */
  writeError?: ((text: string) => void) | undefined;
  /** Process id in the lines of a file. Default: that of this process. */
  pid?: number | undefined;
  /** Fields of every JSON line, with their values at the time of writing. */
  context?: LogFields;
}

/**
 * A log. If the disk is full or the pipe is closed, lines are lost, but the run continues. Standard error gets a warning at the
 * first line of a file that is lost, and their number at the end.
 */
export interface LogSink extends Log {
  /** Opens the file again after it was moved. */
  reopen(): void;
  /** Closes the file, and reports lost lines. Lines that are logged afterwards are lost. */
  close?(): void;
}

/**
 * Opens a log.
 * @param wall  wall clock, ms since the epoch
 * @throws ConfigError if the file cannot be opened
 */
export function openLog(options: LogOptions, wall: () => number): LogSink {
  const { file, format, isQuiet, context, writeError, pid = process.pid } = options;
  const least = LEVELS.indexOf(options.level);
  let descriptor = file === undefined ? 2 : openLogFile(file);
  let lost = 0;
  const warnAtStandardError = (message: string) => {
    const line = formatLogLine("signalbox", "warn", message, {});
    if (!isQuiet) (writeError ?? ((text: string) => void writeLine(2, text)))(line);
  };
  const writeToFile = (line: string) => {
    const fault = writeLine(descriptor, line);
    if (fault === undefined) return;
    lost += 1;
    if (lost > 1) return;
    warnAtStandardError(`lines of the log file ${file} are lost: ${describeFileError(fault)}`);
  };
  const write = (level: LogLevel, message: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) < least || descriptor === CLOSED_DESCRIPTOR || (descriptor === 2 && isQuiet))
      return;
    const time = new Date(wall()).toISOString();
    const line =
      format === "json"
        ? formatJsonLine({ time, level, message, ...context, ...fields })
        : formatLogLine(file ? `${time} signalbox[${pid}]` : "signalbox", level, message, fields);
    if (descriptor === 2 && writeError !== undefined) writeError(line);
    else if (descriptor === 2) writeLine(2, line);
    else writeToFile(line);
  };
  const createLogMethod = (level: LogLevel) => (message: string, fields?: LogFields) =>
    write(level, message, fields);
  const reopen = () => {
    if (file === undefined) return;
    try {
      const before = descriptor;
      descriptor = openLogFile(file);
      closeSync(before);
    } catch (error) {
      write("error", (error as Error).message); // into the old file: a log error must not end the run
    }
  };
  return {
    debug: createLogMethod("debug"),
    info: createLogMethod("info"),
    warn: createLogMethod("warn"),
    error: createLogMethod("error"),
    reopen,
    close: () => {
      if (file === undefined || descriptor === CLOSED_DESCRIPTOR) return;
      closeSync(descriptor);
      descriptor = CLOSED_DESCRIPTOR;
      if (lost > 0) warnAtStandardError(`${pluralize(lost, "line")} of the log file ${file} were lost`);
    },
  };
}

/**
 * Opens a file for appending. It does not block: a pipe without a reader must not delay the start of a run, and a full
 * pipe must not delay the renewal of its session.
 */
export function openForAppend(path: string, mode: number): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode);
}

function openLogFile(path: string): number {
  try {
    return openForAppend(path, 0o640);
  } catch (cause) {
    throw new ConfigError(`cannot open the log file: ${(cause as Error).message}`, { cause });
  }
}

function formatLogLine(where: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}=${/^[\w.:@/-]+$/.test(String(value)) ? value : JSON.stringify(String(value))}`,
    );
  return `${clean(`${where}: ${level === "info" ? "" : `${level}: `}${[message, ...pairs].join(" ")}`)}\n`;
}

/**
 * Writes a line synchronously, so that nothing is lost if the process is killed. Never throws: a log error must not end the
 * run.
 * @returns why not all of it could be written: the disk is full, or the reader of a pipe is gone
 */
function writeLine(descriptor: number, line: string): Error | undefined {
  try {
    const bytes = Buffer.from(line);
    // A disk that is almost full takes a part; the rest then fails with the reason.
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/**
 * Raises the default verbosity to `-v`, so that a service logs what it does, unless the configuration sets the log
 * level.
 */
export function raiseVerbosity<F>(call: Call<F>, { env }: CommandIo): Call<F> {
  if (call.verbosity !== 0) return call;
  const { sources } = resolveConfig({ flags: call.settings, env });
  return sources.logLevel === "default" ? { ...call, verbosity: 1 } : call;
}
