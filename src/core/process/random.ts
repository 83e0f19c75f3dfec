import { closeSync, openSync, readSync } from "node:fs";
import type { Random } from "../base/random.ts";

/** Number of bytes that are read ahead: more than one run needs, so that a process with many ids makes few system calls. */
const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes from the kernel's device: loading node:crypto takes 5 ms, a fifth of a whole run. */
export const realRandom: Random = {
  generateBytes: takeBytes,
  /** Uses 53 random bits. */
  generateFraction: () => Number(takeBytes(8).readBigUInt64LE() >> 11n) / 2 ** 53,
};

/** @param n  at most 4096 */
function takeBytes(n: number): Buffer {
  if (used + n > POOL_BYTES) fillPool();
  const bytes = Buffer.from(pool.subarray(used, used + n));
  used += n;
  return bytes;
}

function fillPool(): void {
  const device = openSync("/dev/urandom", "r");
  try {
    for (let got = 0; got < POOL_BYTES; ) got += readSync(device, pool, got, POOL_BYTES - got, null);
  } finally {
    closeSync(device);
  }
  used = 0;
}
