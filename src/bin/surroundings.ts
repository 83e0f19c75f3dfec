import { writeSync } from "node:fs";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { Surroundings } from "../commands/spec.ts";
import { terminal } from "./terminal.ts";

/** Signals that are forwarded to the command, or end a run that waits. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** This process, for commands. */
export const surroundings: Surroundings = {
  env: process.env,
  out,
  err,
  onSignal(listener) {
    for (const name of SIGNALS) process.on(name, listener);
    return () => {
      for (const name of SIGNALS) process.off(name, listener);
    };
  },
  input: async () => (await import("node:stream/consumers")).text(process.stdin),
  terminal,
};

/** Standard output must arrive: a script must not take half a listing for the whole. @throws SignalboxError 74 */
function out(text: string): boolean {
  try {
    writeAll(1, text);
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EPIPE") return false; // the reader has seen enough
    throw new SignalboxError(EXIT.io, `standard output cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** What cannot be complained about is not complained about. */
function err(text: string): void {
  try {
    writeAll(2, text);
  } catch {
    // nobody can be told
  }
}

/** Writes at once and whole, also to a pipe that is full. */
function writeAll(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
