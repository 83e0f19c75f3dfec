import type { Clock } from "../../base/clock.ts";
import { OVER } from "../../base/over.ts";
import { createRealClock } from "../../process/clock.ts";

/**
 * A wall clock that stands still until it is set. Its monotonic time is that of the machine, so sessions live as long as the
 * process. Setting it wakes whoever sleeps, because what they wait for may be due.
 */
export class TestClock implements Clock {
  readonly #real = createRealClock();
  #wall: number;
  #isSet = Promise.withResolvers<void>();

  /** @param wall  ms since the epoch */
  constructor(wall: number) {
    this.#wall = wall;
  }

  now(): number {
    return this.#real.now();
  }

  getWallTime(): number {
    return this.#wall;
  }

  /** @param wall  ms since the epoch */
  set(wall: number): void {
    this.#wall = wall;
    this.#isSet.resolve();
    this.#isSet = Promise.withResolvers();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const timer = this.#real.sleep(ms, AbortSignal.any([over.signal, ...(signal ? [signal] : [])]));
    timer.catch(() => {});
    try {
      await Promise.race([timer, this.#isSet.promise]);
    } finally {
      over.abort(OVER);
    }
  }
}
