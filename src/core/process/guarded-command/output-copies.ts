import type { Duplex, Readable } from "node:stream";
import type { OutputCopies } from "./command.ts";

/** Reads copies of the output from the sockets of its relays. */
export function attachCopies(sockets: readonly Duplex[], copies: OutputCopies): void {
  for (const [index, socket] of sockets.entries()) {
    const reader = new CopyReader((chunk, lost) => copies.onCopy(chunk, index === 0 ? 1 : 2, lost));
    socket.on("data", (chunk: Buffer) => reader.consume(chunk));
  }
  copies.onOpen(() => {
    for (const socket of sockets) socket.end();
  });
  callAtEnd(sockets, () => copies.onEnd());
}

/** Calls `onEnd` when all streams have ended. Calls it at once if there are no streams. */
export function callAtEnd(streams: readonly Readable[], onEnd: () => void): void {
  let open = streams.length;
  if (open === 0) onEnd();
  for (const stream of streams) {
    stream.on("error", () => {}); // the close event follows
    stream.once("close", () => {
      open -= 1;
      if (open === 0) onEnd();
    });
  }
}

/** Length of the header of a frame. It has two numbers: the bytes of the frame, and the bytes left out before it. */
const HEADER_BYTES = 8;

/** Reads the frames of a relay, as in output-copies.c. */
export class CopyReader {
  readonly #onCopy: (chunk: Buffer, lost: number) => void;
  #header: Buffer = Buffer.alloc(0);
  /** Bytes of the frame that are still to come. */
  #left = 0;

  /** @param onCopy  receives parts of frames as they arrive, and the number of bytes left out before them */
  constructor(onCopy: (chunk: Buffer, lost: number) => void) {
    this.#onCopy = onCopy;
  }

  consume(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; )
      rest = this.#left > 0 ? this.#readBytes(rest) : this.#readHeader(rest);
  }

  #readBytes(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left);
    this.#left -= part.length;
    this.#onCopy(part, 0);
    return bytes.subarray(part.length);
  }

  #readHeader(bytes: Buffer): Buffer {
    const missing = HEADER_BYTES - this.#header.length;
    this.#header = Buffer.concat([this.#header, bytes.subarray(0, missing)]);
    if (this.#header.length < HEADER_BYTES) return bytes.subarray(missing);
    this.#left = this.#header.readUInt32LE(0);
    const lost = this.#header.readUInt32LE(4);
    if (lost > 0) this.#onCopy(Buffer.alloc(0), lost);
    this.#header = Buffer.alloc(0);
    return bytes.subarray(missing);
  }
}
