import { writeSync } from "node:fs";

/** Writes the whole text synchronously; waits while a pipe is full. @throws the error of the system */
export function writeAll(descriptor: number, text: string | Uint8Array): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
