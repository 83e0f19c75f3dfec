/** How much one user may send. */
export interface TrafficLimits {
  /** Bytes at once. */
  burst: number;
  /** Bytes a second. */
  rate: number;
}

/** A connection that can be told not to read. */
interface PausableConnection {
  pause(): void;
  resume(): void;
}

/** What a frame and a connection cost, in bytes that would take as long. */
const [FRAME_COST, CONNECTION_COST] = [4 * 1024, 8 * 1024];
/** Shortest pause, ms: to stop and to continue thousands of connections takes time too. */
const PAUSE_MIN_MS = 250;

/** Frames and calls that wait for the main thread. When it has taken some, more are read. */
const UNTAKEN_MAX = 64;

/**
 * Measures what one user sends over all connections. While it is too much, or the main thread has not taken it, nothing is
 * read from any of them: the kernel lets the user wait.
 */
export class UserTraffic {
  readonly #limits: TrafficLimits;
  readonly #connections = new Set<PausableConnection>();
  /** Bytes that may be sent now; negative if too much was sent. */
  #left: number;
  #measuredAt = performance.now();
  #pause: NodeJS.Timeout | undefined;
  #untaken = 0;

  constructor(limits: TrafficLimits) {
    this.#limits = limits;
    this.#left = limits.burst;
  }

  /** Begins to read from a connection, now or after the pause. */
  add(connection: PausableConnection): void {
    this.#connections.add(connection);
    if (this.#isPaused) connection.pause();
    else connection.resume();
  }

  chargeConnection(): void {
    this.#charge(CONNECTION_COST);
  }

  remove(connection: PausableConnection): void {
    this.#connections.delete(connection);
  }

  chargeFrames(count: number, bytes: number): void {
    this.#charge(count * FRAME_COST + bytes);
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
