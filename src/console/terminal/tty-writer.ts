import { constants, openSync, writeSync } from "node:fs";

interface TtyWriterEvents {
  /** The terminal has accepted all output after a delay. */
  onDrained(): void;
  /** The terminal is closed. */
  onGone(): void;
}

/** Pauses between attempts to write to a terminal that accepts nothing, ms. */
const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 50;
/** Maximum wait on exit for a terminal that accepts nothing, ms. */
const EXIT_TIMEOUT_MS = 300;

/**
 * Writes to a terminal without blocking. The terminal may be stopped (Ctrl+S) or slow, or its line dead. Signals,
 * jobs and etcd must not wait for it.
 */
export class TtyWriter {
  readonly #descriptor: number;
  readonly #events: TtyWriterEvents;
  #rest: Buffer = Buffer.alloc(0);
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | undefined;

  private constructor(descriptor: number, events: TtyWriterEvents) {
    this.#descriptor = descriptor;
    this.#events = events;
  }

  /**
   * Opens standard output again, so that the non-blocking flag applies to this descriptor only.
   * @returns undefined if the system refuses
   */
  static open(events: TtyWriterEvents, path = "/dev/fd/1"): TtyWriter | undefined {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    try {
      return new TtyWriter(openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY), events);
    } catch {
      return undefined;
    }
  }

  /** Whether output is pending. Output written now appears later. */
  get isClogged(): boolean {
    return this.#rest.length > 0;
  }

  /** @returns false if the terminal is closed */
  write(text: string): boolean {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(text)]);
    return this.#timer !== undefined || this.#push();
  }

  /** Waits until all output is accepted, for a limited time. The rest is dropped. */
  flush(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; this.#push() && this.isClogged && waited < EXIT_TIMEOUT_MS; waited += 10)
      Atomics.wait(pause, 0, 0, 10);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#rest = Buffer.alloc(0);
  }

  #push(): boolean {
    try {
      while (this.isClogged) this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      this.#pause = FIRST_PAUSE;
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return this.#retryLater();
      this.#rest = Buffer.alloc(0);
      return false;
    }
  }

  #retryLater(): boolean {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!this.#push()) this.#events.onGone();
      else if (!this.isClogged) this.#events.onDrained();
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    return true;
  }
}
