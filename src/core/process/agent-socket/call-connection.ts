import type { Socket } from "node:net";
import { BLOCK_MAX, type Frame, FrameReader } from "../guarded-command/wire.ts";

/** Maximum number of unsent bytes for a launcher that does not read. */
const UNSENT_MAX = 1024 * 1024;
/** Time after which a connection is cut if its last bytes were not read, ms. */
const LINGER_MS = 10_000;

/** The handle with which a Node socket reads. It has no public interface. */
interface SocketHandle {
  reading: boolean;
  readStart(): void;
  readStop(): void;
}

/** The frames of one connection to the agent. Both directions are bounded, because any user may connect. */
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
   * @param traffic  to which the received frames are charged
   */
  constructor(socket: Socket, traffic: UserTraffic) {
    this.#socket = socket;
    this.#traffic = traffic;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {}); // the close event follows
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

  /** Sets the traffic to which later frames are charged. */
  setTraffic(traffic: UserTraffic): void {
    this.#traffic.remove(this);
    this.#traffic = traffic;
    if (!this.#socket.destroyed) traffic.add(this);
  }

  /** Restarts the handle itself: the stream does not know that it was stopped, and would not start it. */
  resume(): void {
    this.#socket.resume();
    const handle = this.#readHandle();
    if (handle == null || handle.reading) return;
    handle.reading = true;
    handle.readStart();
  }

  /** Stops reading at once. Node would first read another 64 KiB, which thousands of connections would keep in memory. */
  pause(): void {
    this.#socket.pause();
    const handle = this.#readHandle();
    if (!handle?.reading) return;
    handle.reading = false;
    handle.readStop();
  }

  /**
   * Sets the receiver of later frames.
   * @param handleMalformed  receives the fault of bytes that are not frames; by default, the connection is cut
   */
  setHandler(handle: (frame: Frame) => void, handleMalformed?: (message: string) => void): void {
    this.#handle = handle;
    this.#handleMalformed = handleMalformed ?? (() => this.destroy());
  }

  /**
   * Sends frames, together with those of the same turn of the event loop, because each write wakes the launcher. Cuts the
   * connection if the launcher has left too much unread.
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

  /** Writes at once the frames that wait for the end of this turn. */
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

export interface TrafficLimits {
  /** Bytes at once. */
  burst: number;
  /** Bytes a second. */
  rate: number;
}

/** The costs of a frame and of a connection, as numbers of bytes that take as long to handle. */
const [FRAME_COST_BYTES, CONNECTION_COST_BYTES] = [4 * 1024, 8 * 1024];
/** Shortest pause, ms: stopping and continuing thousands of connections takes time too. */
const PAUSE_MIN_MS = 250;

/** Maximum number of frames and calls that wait for the main thread. More are read when it has taken some. */
const UNTAKEN_MAX = 64;

/**
 * Measures what one user sends over all connections. While that is too much, or the main thread has not taken it, none of
 * them is read, and the kernel makes the user's processes wait.
 */
export class UserTraffic {
  readonly #limits: TrafficLimits;
  readonly #connections = new Set<CallConnection>();
  /** Bytes that may be sent now; negative if too much was sent. */
  #left: number;
  #measuredAt = performance.now();
  #pause: NodeJS.Timeout | undefined;
  #untaken = 0;

  constructor(limits: TrafficLimits) {
    this.#limits = limits;
    this.#left = limits.burst;
  }

  /** Starts to read from a connection, now or after the pause. */
  add(connection: CallConnection): void {
    this.#connections.add(connection);
    if (this.#isPaused) connection.pause();
    else connection.resume();
  }

  chargeConnection(): void {
    this.#charge(CONNECTION_COST_BYTES);
  }

  remove(connection: CallConnection): void {
    this.#connections.delete(connection);
  }

  chargeFrames(count: number, bytes: number): void {
    this.#charge(count * FRAME_COST_BYTES + bytes);
  }

  #charge(bytes: number): void {
    const now = performance.now();
    const { burst, rate } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((now - this.#measuredAt) / 1_000) * rate) - bytes;
    this.#measuredAt = now;
    if (this.#left >= 0 || this.#pause !== undefined) return;
    this.#pauseAll();
    const pause = Math.max(PAUSE_MIN_MS, (-this.#left / rate) * 1_000);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#resumeAll();
    }, pause).unref();
  }

  /** Counts a frame or a call that was passed to the main thread. */
  addUntaken(): void {
    this.#untaken += 1;
    if (this.#untaken === UNTAKEN_MAX) this.#pauseAll();
  }

  /** Call it when the main thread has taken some. */
  take(count: number): void {
    const wasFull = this.#untaken >= UNTAKEN_MAX;
    this.#untaken -= count;
    if (wasFull) this.#resumeAll();
  }

  get #isPaused(): boolean {
    return this.#pause !== undefined || this.#untaken >= UNTAKEN_MAX;
  }

  #pauseAll(): void {
    for (const connection of this.#connections) connection.pause();
  }

  #resumeAll(): void {
    if (this.#isPaused) return;
    for (const connection of this.#connections) connection.resume();
  }
}
