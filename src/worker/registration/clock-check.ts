import type { ClockState } from "../../schedule/state/worker-record.ts";

/** Limits for the difference between this clock and the clocks of other workers, ms. */
export interface ClockLimits {
  /** Above this, the worker fires and warns. */
  warns: number;
  /** Above this, the worker does not fire. */
  refuses: number;
}

export const CLOCK_LIMITS: ClockLimits = { warns: 500, refuses: 5_000 };

/** Samples kept per worker. The sample with the shortest delivery time is the most accurate. */
const REMEMBERED = 8;

/**
 * Compares the wall clocks of workers by the records that they write. Each sample is the difference between the clocks
 * plus the delivery time, so the smallest of several samples is the most accurate.
 */
export class ClockCheck {
  /** Per worker: this clock minus the worker's clock, ms, latest last. */
  readonly #ahead = new Map<string, number[]>();

  /**
   * Adds a sample.
   * @param wall the writer's clock, ms since the epoch
   * @param now this host's clock when the record arrived, ms since the epoch
   */
  addSample(worker: string, wall: number, now: number): void {
    const words = this.#ahead.get(worker) ?? [];
    this.#ahead.set(worker, [...words, now - wall].slice(-REMEMBERED));
  }

  /**
   * Adjusts the samples after a step of this clock, so that earlier samples match the new time.
   * @param ms how far the clock moved forward
   */
  shiftSamples(ms: number): void {
    for (const [worker, words] of this.#ahead)
      this.#ahead.set(
        worker,
        words.map((word) => word + ms),
      );
  }

  /** Number of workers with samples. */
  get size(): number {
    return this.#ahead.size;
  }

  forget(worker: string): void {
    this.#ahead.delete(worker);
  }

  hasSample(worker: string): boolean {
    return this.#ahead.has(worker);
  }

  /**
   * How far this clock is ahead of the median of all clocks, ms; negative if it is behind. With two clocks it is
   * unknown which one is right: both workers take the whole difference as their own.
   */
  get skew(): number {
    const others = [...this.#ahead.values()].map((words) => -Math.min(...words));
    if (others.length === 0) return 0;
    if (others.length === 1) return -(others[0] as number);
    const sorted = [0, ...others].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    const middle =
      sorted.length % 2 === 1
        ? (sorted[half] as number)
        : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
    return -middle;
  }

  /**
   * Returns the state of this clock. Of two clocks, the one that is behind keeps firing: it fires late at worst, never
   * early.
   */
  judge({ warns, refuses }: ClockLimits): ClockState {
    const { skew } = this;
    if (skew > refuses || (skew < -refuses && this.#ahead.size > 1)) return "refuses";
    return Math.abs(skew) > warns ? "warns" : "ok";
  }
}
