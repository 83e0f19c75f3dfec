import {
  type Clock,
  type Millis,
  type MonotonicTime,
  toMonotonicTime,
  type WallTime,
} from "../../../src/core/base/clock.ts";

/** A clock that the test advances. */
export class ManualClock implements Clock {
  /** How far the wall clock has been set forward. */
  ahead: Millis = 0;
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  now(): MonotonicTime {
    return toMonotonicTime(this.#now);
  }

  /** How far the test has moved the time on. */
  get elapsed(): Millis {
    return this.#now;
  }

  getWallTime(): WallTime {
    return this.#now + this.ahead;
  }

  sleep(ms: Millis, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** Sleepers now. */
  get pending(): number {
    return this.#sleepers.length;
  }

  /** Moves the time on, waking sleepers in order and letting everyone act in between. */
  async advance(ms: Millis): Promise<void> {
    const end = this.#now + ms;
    await waitForPending();
    for (;;) {
      const [next] = this.#sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#now = Math.max(this.#now, next.at);
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
      await waitForPending();
    }
    this.#now = end;
  }
}

/** Resolves when all that could go on without time has done so. */
export function waitForPending(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
