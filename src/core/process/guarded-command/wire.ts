import { encodeArgument } from "../../base/bytes.ts";

/**
 * The guardian's protocol on the runner's side. The other side is guardian/wire.h, which documents each frame. Frames
 * of 24 bytes, little endian: u32 kind, u32 length, i64 a, i64 b; then `length` bytes. Instants are absolute
 * nanoseconds of CLOCK_BOOTTIME.
 */
const FRAME_BYTES = 24;
export const WIRE_VERSION = 3n;
/** Maximum length of a frame's block, bytes. */
export const BLOCK_MAX = 64 * 1024;

/** Runner to guardian. */
export const GUARDIAN_REQUEST = {
  arm: 1,
  start: 2,
  signal: 3,
  terminate: 4,
  release: 5,
  words: 6,
  ping: 7,
  environment: 8,
} as const;
/** Guardian to runner. */
export const GUARDIAN_EVENT = {
  hello: 65,
  started: 66,
  failed: 67,
  refused: 68,
  exited: 69,
  gone: 70,
  place: 71,
  seen: 72,
  pong: 73,
  report: 74,
} as const;
/** Bits of EXITED's `b`. */
export const EXITED_BITS = { leftovers: 1n, terminated: 2n, guardianLost: 4n } as const;
/** Why a START was refused. */
export const REFUSED_CODES = { unarmed: 1n, tooLate: 2n } as const;
/** Exit codes of the outer guardian. Any other end has no information about the command. */
export const GUARDIAN_EXIT = { gone: 0, released: 3, innerKilled: 4, setup: 5 } as const;

export interface Frame {
  kind: number;
  a: bigint;
  b: bigint;
  block: Buffer;
}

/** Encodes a frame. `a` and `b` are clamped to 64 bits. */
export function encodeFrame(kind: number, a = 0n, b = 0n, block: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES + block.length);
  frame.writeUInt32LE(kind, 0);
  frame.writeUInt32LE(block.length, 4);
  frame.writeBigInt64LE(clamp(a), 8);
  frame.writeBigInt64LE(clamp(b), 16);
  frame.set(block, FRAME_BYTES);
  return frame;
}

const MAX_INT64 = 0x7fff_ffff_ffff_ffffn;

function clamp(value: bigint): bigint {
  if (value > MAX_INT64) return MAX_INT64;
  return value < -MAX_INT64 ? -MAX_INT64 : value;
}

/**
 * Encodes environment additions for START.
 * @throws RangeError when a name or value contains a NUL, a name is empty or contains "=", or the result is too long
 */
export function encodeEnvironmentBlock(env: Record<string, string>): Buffer {
  const block = encodeEntries(env);
  if (block.length > BLOCK_MAX)
    throw new RangeError(`${block.length} bytes of environment additions; at most ${BLOCK_MAX} fit`);
  return block;
}

/**
 * Encodes variables, each followed by a NUL.
 * @throws RangeError when a name or value contains a NUL, or a name is empty or contains "="
 */
export function encodeEntries(env: Readonly<Record<string, string | undefined>>): Buffer {
  const entries = Object.entries(env).filter(([, value]) => value !== undefined);
  for (const [name, value] of entries) {
    if (name === "" || /[=\0]/.test(name) || value?.includes("\0"))
      throw new RangeError(`not an environment variable: ${JSON.stringify(name)}`);
  }
  return Buffer.from(entries.map(([name, value]) => `${name}=${value}\0`).join(""));
}

const NUL = Buffer.from([0]);

/**
 * Encodes a command's words as frames that each carry a piece of them.
 * @param words  from `decodeArgument`
 * @throws RangeError when a word contains a NUL
 */
export function encodeWords(words: readonly string[]): Buffer[] {
  const bad = words.find((word) => word.includes("\0"));
  if (bad !== undefined) throw new RangeError(`a NUL in the argument ${JSON.stringify(bad)}`);
  const bytes = Buffer.concat(words.flatMap((word) => [encodeArgument(word), NUL]));
  return encodePieces(GUARDIAN_REQUEST.words, 0n, bytes);
}

/**
 * Encodes environment entries as frames that each carry a piece of them.
 * @param entries  each followed by a NUL, in any bytes
 */
export function encodeEnvironment(entries: Buffer): Buffer[] {
  return encodePieces(GUARDIAN_REQUEST.environment, 0n, entries);
}

/** Encodes bytes as frames that each carry a piece of them. */
export function encodePieces(kind: number, a: bigint, all: Uint8Array): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < all.length; at += BLOCK_MAX)
    frames.push(encodeFrame(kind, a, 0n, all.subarray(at, at + BLOCK_MAX)));
  return frames;
}

/** Start times of processes by id, in clock ticks. Id and start time together identify a process permanently. */
export type ProcessStartTimes = ReadonlyMap<number, number>;

/** Decodes the block of SEEN: entries of 16 bytes. */
export function decodeProcessStartTimes(block: Buffer): ProcessStartTimes {
  const seen = new Map<number, number>();
  for (let at = 0; at + 16 <= block.length; at += 16)
    seen.set(block.readUInt32LE(at), Number(block.readBigUInt64LE(at + 8)));
  return seen;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** Collects the bytes of a connection and returns complete frames. */
export class FrameReader {
  readonly #blockMax: number;
  #rest = NO_BYTES;

  /** @param blockMax  maximum length of a block, for a sender that is not trusted */
  constructor(blockMax = Number.POSITIVE_INFINITY) {
    this.#blockMax = blockMax;
  }

  /**
   * @returns the frames that `chunk` completed, in order
   * @throws RangeError when a block is too long
   */
  consume(chunk: Buffer): Frame[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    for (let frame = this.#readFirst(); frame !== undefined; frame = this.#readFirst()) {
      frames.push(frame);
      const used = FRAME_BYTES + frame.block.length;
      // An empty view would keep the whole buffer in memory: 64 KiB for every command that waits.
      this.#rest = used === this.#rest.length ? NO_BYTES : this.#rest.subarray(used);
    }
    return frames;
  }

  #readFirst(): Frame | undefined {
    const at = this.#rest;
    if (at.length < FRAME_BYTES) return undefined;
    const length = at.readUInt32LE(4);
    if (length > this.#blockMax) throw new RangeError(`a frame of ${length} bytes`);
    const end = FRAME_BYTES + length;
    if (at.length < end) return undefined;
    const block = at.subarray(FRAME_BYTES, end);
    return { kind: at.readUInt32LE(0), a: at.readBigInt64LE(8), b: at.readBigInt64LE(16), block };
  }
}
