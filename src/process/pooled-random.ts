import { randomFillSync } from "node:crypto";
import type { Random } from "../base/random.ts";

/** Bytes that are asked of the kernel at one time. */
const POOL_BYTES = 4096;
const POOL = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** The kernel's randomness, read ahead, for a process that generates many ids. */
export const pooledRandom: Random = {
  generateBytes: takeBytes,
  /** Uses 53 random bits. */
  generateFraction: () => Number(takeBytes(8).readBigUInt64LE() >> 11n) / 2 ** 53,
};

/** @param n  at most 4096 */
function takeBytes(n: number): Buffer {
  if (used + n > POOL_BYTES) {
    randomFillSync(POOL);
    used = 0;
  }
  const bytes = Buffer.from(POOL.subarray(used, used + n));
  used += n;
  return bytes;
}
