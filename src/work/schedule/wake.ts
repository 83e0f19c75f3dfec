import type { Clock } from "../../base/clock.ts";

/** A sleep that a call ends. */
export class Wake {
  readonly #clock: Clock;
  #called = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#called.resolve();
  }

  /** Forgets calls: what they were for is about to be looked at. */
  reset(): void {
    this.#called = Promise.withResolvers();
  }

  /** Sleeps until it is called, `ms` have passed, or the signal is aborted. Rejects never. */
  async within(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const timer = this.#clock.sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => {});
    await Promise.race([timer, this.#called.promise]);
    over.abort();
  }
}
