import { writeSync } from "node:fs";
import { EXIT, SignalboxError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import type { CommandIo } from "../commands/spec.ts";
import { terminal } from "./terminal.ts";

/** Signals that are forwarded to the command, or that end a waiting run. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** The input and output of this process, for commands. */
export const processIo: CommandIo = {
  env: process.env,
  writeOutput,
  writeError,
  writeMessage: (line) => writeError(`signalbox: ${clean(line)}\n`),
  onSignal(listener) {
    for (const name of SIGNALS) process.on(name, listener);
    return () => {
      for (const name of SIGNALS) process.off(name, listener);
    };
  },
  readInput: async () => (await import("node:stream/consumers")).text(process.stdin),
  terminal,
};

/**
 * Writes to standard output. Throws if that fails, because a script must not accept half a listing as complete.
 * @returns false if the reader has closed the pipe
 * @throws SignalboxError 74
 */
function writeOutput(text: string): boolean {
  try {
    writeAll(1, text);
    return true;
  } catch (cause) {
    if (getErrorCode(cause) === "EPIPE") return false; // the reader closed the pipe
    throw new SignalboxError(EXIT.io, `standard output cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Writes to standard error. Ignores failures, because there is no other place to report them. */
function writeError(text: string): void {
  try {
    writeAll(2, text);
  } catch {
    // no place to report this
  }
}

/** Writes the whole text synchronously, also to a full pipe. */
function writeAll(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (getErrorCode(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function getErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
