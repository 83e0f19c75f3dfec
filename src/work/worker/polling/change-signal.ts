import type { Clock } from "../../../base/clock.ts";
import { InterruptibleSleep } from "../interruptible-sleep.ts";

/** Lets several callers wait until something changes. A change between a caller's look and its wait is not missed. */
export class ChangeSignal {
  readonly #clock: Clock;
  readonly #sleeps = new Set<InterruptibleSleep>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of changes so far. */
  get count(): number {
    return this.#count;
  }

  recordChange(): void {
    this.#count += 1;
    for (const sleep of this.#sleeps) sleep.wake();
  }

  /**
   * Waits until there is a change after the first `since`, `ms` have passed, or the signal is aborted. Never rejects.
   */
  async wait(since: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#count !== since || ms <= 0) return;
    const sleep = new InterruptibleSleep(this.#clock);
    this.#sleeps.add(sleep);
    await sleep.sleep(ms, signal);
    this.#sleeps.delete(sleep);
  }
}
