import { closeSync, constants, openSync, writeSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import type { Log, LogFields, LogLevel } from "../base/log.ts";
import { clean } from "../base/text.ts";
import { jsonLine } from "./table.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface LogOptions {
  /** Undefined for standard error. */
  file: string | undefined;
  level: LogLevel;
  format: "text" | "json";
  /** Nothing at all is written to standard error. */
  isQuiet: boolean;
}

/** Where log lines go; a full disk or a closed pipe loses lines, never the run. */
export interface LogSink extends Log {
  /** Opens the file anew, after somebody moved the old one away. */
  reopen(): void;
}

/** @param wall  wall clock, ms since the epoch. @throws ConfigError when the file cannot be opened */
export function openLog(options: LogOptions, wall: () => number): LogSink {
  const { file, format, isQuiet } = options;
  const least = LEVELS.indexOf(options.level);
  let descriptor = file === undefined ? 2 : openFile(file);
  const write = (level: LogLevel, message: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) < least || (descriptor === 2 && isQuiet)) return;
    const time = new Date(wall()).toISOString();
    const line =
      format === "json"
        ? jsonLine({ time, level, message, ...fields })
        : textLine(file ? time : "", level, message, fields);
    writeLine(descriptor, line);
  };
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => write(level, message, fields);
  const reopen = () => {
    if (file === undefined) return;
    try {
      const before = descriptor;
      descriptor = openFile(file);
      closeSync(before);
    } catch (error) {
      write("error", (error as Error).message); // into the file that was moved: the run matters more than its log
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), reopen };
}

/** For appending. A pipe that nobody reads must neither keep a run from starting nor, once it is full, from renewing its session. */
export function openForLog(path: string, mode: number): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode);
}

function openFile(path: string): number {
  try {
    return openForLog(path, 0o640);
  } catch (cause) {
    throw new ConfigError(`the log file cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}=${/^[\w.:@/-]+$/.test(String(value)) ? value : JSON.stringify(String(value))}`,
    );
  const where = time === "" ? "signalbox" : `${time} signalbox[${process.pid}]`;
  return `${clean(`${where}: ${level === "info" ? "" : `${level}: `}${[message, ...pairs].join(" ")}`)}\n`;
}

/** Written at once, so that nothing is lost when the process is killed. */
function writeLine(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch {
    // a full disk or a reader that went away: the run matters more than its log
  }
}
