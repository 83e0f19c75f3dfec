import { writeSync } from "node:fs";
import type { Surroundings } from "../commands/spec.ts";

/** Signals that are forwarded to the command, or end a run that waits. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** This process, for commands. */
export const surroundings: Surroundings = {
  env: process.env,
  out: (text) => write(1, text),
  err: (text) => write(2, text),
  onSignal(listener) {
    for (const name of SIGNALS) process.on(name, listener);
    return () => {
      for (const name of SIGNALS) process.off(name, listener);
    };
  },
};

/** Writes at once and whole, also to a pipe that is full; a reader that went away ends the writing, not the process. */
function write(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
