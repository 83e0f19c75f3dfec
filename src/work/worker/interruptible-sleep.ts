import type { Clock } from "../../base/clock.ts";
import { OVER } from "../../base/over.ts";

/** A sleep that `wake` ends early. */
export class InterruptibleSleep {
  readonly #clock: Clock;
  #called = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#called.resolve();
  }

  /** Discards earlier calls of `wake`. Call it before you handle their cause. */
  reset(): void {
    this.#called = Promise.withResolvers();
  }

  /** Sleeps until `wake` is called, `ms` have passed, or the signal is aborted. Never rejects. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const called = this.#called;
    const over = new AbortController();
    const wake = () => called.resolve();
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    const timer = this.#clock.sleep(ms, over.signal).catch(() => {});
    await Promise.race([timer, called.promise]);
    signal.removeEventListener("abort", wake);
    over.abort(OVER);
  }
}
