import { closeSync, openSync, readSync } from "node:fs";
import type { Random } from "../base/random.ts";

/** The kernel's randomness, read from its device: loading node:crypto costs 5 ms, a fifth of a whole run. */
export const realRandom: Random = {
  generateBytes: readRandomBytes,
  /** Uses 53 random bits. */
  generateFraction: () => Number(readRandomBytes(8).readBigUInt64LE() >> 11n) / 2 ** 53,
};

function readRandomBytes(n: number): Buffer {
  const bytes = Buffer.alloc(n);
  const device = openSync("/dev/urandom", "r");
  try {
    for (let got = 0; got < n; ) got += readSync(device, bytes, got, n - got, null);
  } finally {
    closeSync(device);
  }
  return bytes;
}
