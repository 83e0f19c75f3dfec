import type { Clock } from "../base/clock.ts";
import { OVER } from "../base/wait.ts";

/** How long to wait for more causes to wake, ms. */
const CROWD = 1;

/** A sleep that `wake` ends early. */
export class InterruptibleSleep {
  readonly #clock: Clock;
  #called = Promise.withResolvers<void>();
  #isAwake = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#isAwake = true;
    this.#called.resolve();
  }

  /** Discards earlier calls of `wake`. Call it before you handle their cause. */
  reset(): void {
    if (!this.#isAwake) return;
    this.#isAwake = false;
    this.#called = Promise.withResolvers();
  }

  /** Sleeps until `wake` is called, `ms` have passed, or the signal is aborted. Never rejects. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    // What wakes a busy worker comes in crowds, such as the answers to a batch: it handles them together.
    if (this.#isAwake) return await this.#clock.sleep(CROWD, signal).catch(() => {});
    const called = this.#called;
    const over = new AbortController();
    const wake = () => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    const timer = this.#clock.sleep(ms, over.signal).catch(() => {});
    await Promise.race([timer, called.promise]);
    signal.removeEventListener("abort", wake);
    over.abort(OVER);
  }
}
