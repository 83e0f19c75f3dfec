import { writeSync } from "node:fs";
import { ConfigError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import { clean } from "../../base/text.ts";
import { type LogSink, openForLog } from "../../commands/logging.ts";
import { reaches, type SwitchmanLevel } from "./levels.ts";

export interface SwitchmanLogOptions {
  /** Undefined for none: then there is only standard error. */
  file: string | undefined;
  /** The least that goes to the file. */
  level: SwitchmanLevel;
  /** Standard error gets everything, not only warnings and worse. */
  isDebugging: boolean;
  err(text: string): void;
}

/** What the engine says, where switchman has words for it: [its level, its words]. Of the rest the words are ours. */
const WORDS: Readonly<Record<string, (fields: LogFields) => [SwitchmanLevel, string]>> = {
  "terminating the command": ({ why }) => ["debug", `Terminating the child: ${why}`],
  "the claim was lost, the command was terminated": ({ why }) => [
    "warning",
    `It's not secure to proceed, ${why}`,
  ],
};

/** switchman's log: `YYYY-MM-DD HH:MM:SS<tab>[pid]<tab>message`, in local time, on standard error and in a file. */
export class SwitchmanLog {
  /** The command's, once it runs. */
  child: number | undefined;
  readonly #options: SwitchmanLogOptions;
  readonly #descriptor: number | undefined;

  /** @throws ConfigError when the file cannot be opened */
  constructor(options: SwitchmanLogOptions) {
    this.#options = options;
    this.#descriptor = options.file === undefined ? undefined : opened(options.file);
  }

  write(level: SwitchmanLevel, message: string): void {
    const { isDebugging, level: least, err } = this.#options;
    const line = `${timeText(new Date())}\t[${process.pid}]\t${clean(message)}\n`;
    if (reaches(level, isDebugging ? "debug" : "warning")) err(line);
    if (this.#descriptor !== undefined && reaches(level, least)) append(this.#descriptor, line);
  }

  /** For the engine. What it says of its own doings, switchman would say only where it is debugged. */
  readonly sink: LogSink = {
    debug: (message, fields) => this.#pass("debug", message, fields),
    info: (message, fields) => this.#pass("debug", message, fields),
    warn: (message, fields) => this.#pass("warning", message, fields),
    error: (message, fields) => this.#pass("error", message, fields),
    reopen: () => {},
  };

  #pass(level: SwitchmanLevel, message: string, fields: LogFields = {}): void {
    if (message === "started") this.child = Number(fields.pid);
    const known = WORDS[message]?.(fields);
    if (known !== undefined) return this.write(...known);
    const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
    this.write(level, [message, ...pairs.map(([key, value]) => `${key}=${value}`)].join(" "));
  }
}

function opened(path: string): number {
  try {
    return openForLog(path, 0o666);
  } catch (cause) {
    throw new ConfigError(`Cannot write to the logfile: ${(cause as Error).message}`, { cause });
  }
}

/** A full disk loses lines, never the run. */
function append(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch {
    // standard error has what matters
  }
}

function timeText(now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("-");
  return `${date} ${[now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":")}`;
}
