/**
 * The guardian's protocol, the runner's side. guardian/wire.h is the other one and says what each frame means.
 * Frames of 24 bytes, little endian: u32 kind, u32 length, i64 a, i64 b; then `length` bytes. Instants are absolute
 * nanoseconds of CLOCK_BOOTTIME.
 */
const FRAME_BYTES = 24;
export const WIRE_VERSION = 1n;
/** The longest block of environment additions, in bytes. */
export const BLOCK_MAX = 64 * 1024;

/** Runner to guardian. */
export const ORDER = { arm: 1, start: 2, signal: 3, terminate: 4, release: 5 } as const;
/** Guardian to runner. */
export const NEWS = { hello: 65, started: 66, failed: 67, refused: 68, exited: 69, gone: 70 } as const;
/** Bits of EXITED's `b`. */
export const EXITED = { leftovers: 1n, terminated: 2n } as const;
/** Why a START was refused. */
export const REFUSED = { unarmed: 1n, tooLate: 2n } as const;
/** How the outer guardian ends when all is well; any other end says nothing about the command. */
export const GUARDIAN_EXIT = { gone: 0, released: 3, avenged: 4, setup: 5 } as const;

export interface Frame {
  kind: number;
  a: bigint;
  b: bigint;
}

/** A frame as bytes. `a` and `b` are clamped to 64 bits. */
export function encode(kind: number, a = 0n, b = 0n, block: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES + block.length);
  frame.writeUInt32LE(kind, 0);
  frame.writeUInt32LE(block.length, 4);
  frame.writeBigInt64LE(clamp(a), 8);
  frame.writeBigInt64LE(clamp(b), 16);
  frame.set(block, FRAME_BYTES);
  return frame;
}

const LARGEST = 0x7fff_ffff_ffff_ffffn;

function clamp(value: bigint): bigint {
  if (value > LARGEST) return LARGEST;
  return value < -LARGEST ? -LARGEST : value;
}

/**
 * Environment additions as START carries them.
 * @throws RangeError when a name or value holds a NUL, a name is empty or holds "=", or all of it is too long
 */
export function environmentBlock(env: Record<string, string>): Buffer {
  const entries = Object.entries(env);
  for (const [name, value] of entries) {
    if (name === "" || /[=\0]/.test(name) || value.includes("\0"))
      throw new RangeError(`not an environment variable: ${JSON.stringify(`${name}=${value}`)}`);
  }
  const block = Buffer.from(entries.map(([name, value]) => `${name}=${value}\0`).join(""));
  if (block.length > BLOCK_MAX)
    throw new RangeError(`${block.length} bytes of environment additions; at most ${BLOCK_MAX} fit`);
  return block;
}

/** Takes the guardian's bytes as they come, and yields the frames that are complete. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns the frames that `chunk` completed, in order; the guardian sends none with a block */
  take(chunk: Buffer): Frame[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    while (this.#rest.length >= FRAME_BYTES) {
      const at = this.#rest;
      frames.push({ kind: at.readUInt32LE(0), a: at.readBigInt64LE(8), b: at.readBigInt64LE(16) });
      this.#rest = at.subarray(FRAME_BYTES);
    }
    return frames;
  }
}
