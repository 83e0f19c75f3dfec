import { closeSync, constants, openSync, readSync } from "node:fs";

/** Longest wait, ms. A shell that reads the answer later shows it as typed text. */
const PATIENCE = 250;
const PAUSE = 5;

/** Reads and discards what a terminal sends, until so many answers to `CSI 5 n` have arrived. Blocks: the process may be about to exit. */
export function discardAnswers(count: number, path = "/dev/fd/0"): void {
  if (count === 0) return;
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      readAnswers(descriptor, count);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // the terminal is closed: nobody gets the answer
  }
}

function readAnswers(descriptor: number, count: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const bytes = Buffer.alloc(4_096);
  let read = "";
  for (let waited = 0; waited < PATIENCE && countAnswers(read) < count; waited += PAUSE) {
    try {
      const length = readSync(descriptor, bytes);
      if (length === 0) return;
      read = (read + bytes.toString("latin1", 0, length)).slice(-bytes.length);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, PAUSE);
    }
  }
}

const countAnswers = (read: string) => read.match(/\x1b\[[03]n/g)?.length ?? 0;
