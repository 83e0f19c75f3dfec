import type { Socket } from "node:net";
import { BLOCK_MAX, type Frame, FrameReader } from "../guarded-command/wire.ts";
import type { UserTraffic } from "./user-traffic.ts";

/** Maximum number of bytes that wait for a launcher that does not read. */
const UNSENT_MAX = 1024 * 1024;
/** Time after which a connection is cut whose last bytes were not read, ms. */
const LINGER_MS = 10_000;

/** What Node's sockets read with, which has no public interface. */
interface SocketHandle {
  reading: boolean;
  readStart(): void;
  readStop(): void;
}

/** The frames of one connection to the agent, in both directions. Both are bounded: everybody may connect. */
export class CallConnection {
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #traffic: UserTraffic;
  readonly #reader = new FrameReader(BLOCK_MAX);
  #handle: (frame: Frame) => void = () => {};
  #handleMalformed: (message: string) => void = () => this.destroy();

  /**
   * @param socket   paused; `start` begins to read
   * @param traffic  what the user of the connection sends
   */
  constructor(socket: Socket, traffic: UserTraffic) {
    this.#socket = socket;
    this.#traffic = traffic;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {}); // the close event follows
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Begins to read, as long as the user does not send too much. */
  start(): void {
    if (this.#socket.destroyed) return;
    this.#socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#socket.pause(); // the listener has resumed it
    this.#socket.once("close", () => this.#traffic.remove(this));
    this.#traffic.chargeConnection();
    this.#traffic.add(this);
  }

  /** Sets what measures all that comes from now on. */
  setTraffic(traffic: UserTraffic): void {
    this.#traffic.remove(this);
    this.#traffic = traffic;
    if (!this.#socket.destroyed) traffic.add(this);
  }

  /** Starts the handle itself again: for the stream it reads since before the pause, and is not asked. */
  resume(): void {
    this.#socket.resume();
    const handle = this.#readHandle();
    if (handle == null || handle.reading) return;
    handle.reading = true;
    handle.readStart();
  }

  /** Stops at once: Node would read another 64 KiB first, which thousands of connections would keep in memory. */
  pause(): void {
    this.#socket.pause();
    const handle = this.#readHandle();
    if (!handle?.reading) return;
    handle.reading = false;
    handle.readStop();
  }

  /**
   * Sets who receives the frames from now on.
   * @param handleMalformed  receives what is wrong with bytes that are not frames; by default, the connection is cut
   */
  setHandler(handle: (frame: Frame) => void, handleMalformed?: (message: string) => void): void {
    this.#handle = handle;
    this.#handleMalformed = handleMalformed ?? (() => this.destroy());
  }

  /**
   * Sends frames, together with those of the same turn of the event loop: each write wakes the launcher. Cuts the
   * connection when too much of what was sent before has not been read.
   */
  send(frames: Buffer): void {
    if (!this.#socket.writable) return;
    if (this.#socket.writableLength > UNSENT_MAX) return this.destroy();
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.flush());
    }
    this.#socket.write(frames);
  }

  /** Writes at once what waits for the end of this turn. */
  flush(): void {
    while (this.#socket.writableCorked > 0) this.#socket.uncork();
  }

  /** Sends last frames, and closes the connection when they were sent. Receives nothing more. */
  finish(frames: Buffer): void {
    this.setHandler(
      () => {},
      () => {},
    );
    this.send(frames);
    this.flush();
    this.#socket.destroySoon();
    const timeout = setTimeout(() => this.destroy(), LINGER_MS).unref();
    this.#socket.once("close", () => clearTimeout(timeout));
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  #readHandle(): SocketHandle | null | undefined {
    return (this.#socket as { _handle?: SocketHandle | null })._handle;
  }

  #receive(chunk: Buffer): void {
    try {
      const frames = this.#reader.consume(chunk);
      this.#traffic.chargeFrames(Math.max(1, frames.length), chunk.length);
      for (const frame of frames) if (!this.#socket.destroyed) this.#handle(frame);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#handleMalformed(error.message);
    }
  }
}
