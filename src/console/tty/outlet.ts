import { constants, openSync, writeSync } from "node:fs";

/** What happens to a terminal that is written to. */
export interface OutletEvents {
  /** It has taken all, after it had not for a while. */
  onDrained(): void;
  /** It is gone. */
  onGone(): void;
}

/** Pauses before a terminal that takes nothing is tried again, ms. */
const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 50;
/** Whoever leaves waits so long for a terminal that takes nothing, ms. */
const PATIENCE = 300;

/**
 * Writes to a terminal without waiting for it: it may be held (Ctrl+S), slow, or its line dead. Signals, jobs and etcd must
 * not wait with it.
 */
export class Outlet {
  readonly #descriptor: number;
  readonly #events: OutletEvents;
  #rest: Buffer = Buffer.alloc(0);
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | undefined;

  private constructor(descriptor: number, events: OutletEvents) {
    this.#descriptor = descriptor;
    this.#events = events;
  }

  /** Standard output, opened anew: the flag not to wait is its own. @returns undefined where the system refuses */
  static open(events: OutletEvents, path = "/dev/fd/1"): Outlet | undefined {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    try {
      return new Outlet(openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY), events);
    } catch {
      return undefined;
    }
  }

  /** Whether something is still to be taken: what is written now is seen later. */
  get isClogged(): boolean {
    return this.#rest.length > 0;
  }

  /** @returns false once the terminal is gone */
  write(text: string): boolean {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(text)]);
    return this.#timer !== undefined || this.#push();
  }

  /** Waits until all is taken, though not for ever; what is not by then is dropped. */
  flush(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; this.#push() && this.isClogged && waited < PATIENCE; waited += 10)
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
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return this.#again();
      this.#rest = Buffer.alloc(0);
      return false;
    }
  }

  #again(): boolean {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!this.#push()) this.#events.onGone();
      else if (!this.isClogged) this.#events.onDrained();
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    return true;
  }
}
