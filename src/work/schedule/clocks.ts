import type { ClockState } from "../../schedule/worker-record.ts";

/** How far a clock may be off the others', ms. */
export interface ClockLimits {
  /** It fires and warns above this. */
  warns: number;
  /** It does not fire above this. */
  refuses: number;
}

export const CLOCK_LIMITS: ClockLimits = { warns: 500, refuses: 5_000 };

/** Words of each worker that are remembered: the quickest to arrive says most. */
const REMEMBERED = 8;

/**
 * Compares wall clocks of workers by what they write: a word that arrives tells how far its writer's clock was behind ours,
 * plus the time that it took, so the least of several is the nearest.
 */
export class Clocks {
  /** By worker: our clock less its, ms, the latest last. */
  readonly #ahead = new Map<string, number[]>();

  /** @param wall  the writer's clock. @param now  ours, when it arrived. Both ms since the epoch */
  heard(worker: string, wall: number, now: number): void {
    const words = this.#ahead.get(worker) ?? [];
    this.#ahead.set(worker, [...words, now - wall].slice(-REMEMBERED));
  }

  /** Our clock was set. @param ms  how far forward: what was heard before is compared with the new time */
  stepped(ms: number): void {
    for (const [worker, words] of this.#ahead)
      this.#ahead.set(
        worker,
        words.map((word) => word + ms),
      );
  }

  forget(worker: string): void {
    this.#ahead.delete(worker);
  }

  hasHeard(worker: string): boolean {
    return this.#ahead.has(worker);
  }

  /**
   * How far our clock is ahead of the middle one of all, ms; negative where it is behind. Of two, nobody can say which is
   * right: both take the whole difference for theirs.
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

  /** Of two clocks the one behind goes on: it fires late at worst, and never early. */
  judge({ warns, refuses }: ClockLimits): ClockState {
    const { skew } = this;
    if (skew > refuses || (skew < -refuses && this.#ahead.size > 1)) return "refuses";
    return Math.abs(skew) > warns ? "warns" : "ok";
  }
}
