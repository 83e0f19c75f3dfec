import { writeSync } from "node:fs";
import { ConfigError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import { clean } from "../../base/text.ts";
import { type LogSink, openForAppend } from "../../commands/logging.ts";
import { formatLogTime } from "../log-time.ts";
import { isAtLeastLevel, type SwitchmanLevel } from "./config.ts";

interface SwitchmanLogOptions {
  /** Undefined: the log goes only to standard error. */
  file: string | undefined;
  /** Minimum level for the file. */
  level: SwitchmanLevel;
  /** Writes all levels to standard error, not only warnings and higher. */
  isDebugging: boolean;
  writeStderr(text: string): void;
}

/**
 * Messages of a run for which switchman has its own words: [its level, its words]. All others keep the words of
 * signalbox.
 */
const WORDS: Readonly<Record<string, (fields: LogFields) => [SwitchmanLevel, string]>> = {
  "terminating the command": ({ why }) => ["debug", `Terminating the child: ${why}`],
  "the claim was lost, the command was terminated": ({ why }) => [
    "warning",
    `It's not secure to proceed, ${why}`,
  ],
};

/**
 * Writes switchman's log: `YYYY-MM-DD HH:MM:SS<tab>[pid]<tab>message`, in local time, to standard error and to a
 * file.
 */
export class SwitchmanLog {
  /** Pid of the command, once it runs. */
  child: number | undefined;
  readonly #options: SwitchmanLogOptions;
  readonly #descriptor: number | undefined;
  /** A signal that has arrived before the command was known to run. */
  #earlySignal: NodeJS.Signals | undefined;

  /** @throws ConfigError if the file cannot be opened */
  constructor(options: SwitchmanLogOptions) {
    this.#options = options;
    this.#descriptor = options.file === undefined ? undefined : openLogFile(options.file);
  }

  write(level: SwitchmanLevel, message: string): void {
    const { isDebugging, level: least, writeStderr } = this.#options;
    const line = `${formatLogTime(new Date(), "-")}\t[${process.pid}]\t${clean(message)}\n`;
    if (isAtLeastLevel(level, isDebugging ? "debug" : "warning")) writeStderr(line);
    if (this.#descriptor !== undefined && isAtLeastLevel(level, least)) appendLine(this.#descriptor, line);
  }

  /** Says that the command is sent a signal, like Perl's `warn`, without a date: now, or as soon as it runs. */
  reportSignal(name: NodeJS.Signals): void {
    const { child } = this;
    if (name !== "SIGTERM" && name !== "SIGINT") return;
    if (child === undefined) this.#earlySignal = name;
    else
      this.#options.writeStderr(
        `Parent received ${name}, terminating child ${child}\nSent ${name} to ${child}\n`,
      );
  }

  /**
   * Receives the messages of the run. Its info messages become debug messages, because switchman would only write
   * them when debugging.
   */
  readonly sink: LogSink = {
    debug: (message, fields) => this.#forward("debug", message, fields),
    info: (message, fields) => this.#forward("debug", message, fields),
    warn: (message, fields) => this.#forward("warning", message, fields),
    error: (message, fields) => this.#forward("error", message, fields),
    reopen: () => {},
  };

  #handleStart(pid: number): void {
    this.child = pid;
    if (this.#earlySignal !== undefined) this.reportSignal(this.#earlySignal);
  }

  #forward(level: SwitchmanLevel, message: string, fields: LogFields = {}): void {
    if (message === "started") this.#handleStart(Number(fields.pid));
    const known = WORDS[message]?.(fields);
    if (known !== undefined) return this.write(...known);
    const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
    this.write(level, [message, ...pairs.map(([key, value]) => `${key}=${value}`)].join(" "));
  }
}

function openLogFile(path: string): number {
  try {
    return openForAppend(path, 0o666);
  } catch (cause) {
    throw new ConfigError(`Cannot write to the logfile: ${(cause as Error).message}`, { cause });
  }
}

/** Appends a line. On a full disk lines are lost, but the run continues. */
function appendLine(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch {
    // standard error has the important messages
  }
}
