import type { Clock } from "../base/clock.ts";
import type { Log, LogFields } from "../base/log.ts";

/** Largest number of lines per period, and the period in ms. */
const MOST = 20;
const SPAN = 60_000;

/** Logs warnings, up to a limit per minute. The next line states the number of dropped warnings. */
export class RateLimitedLog {
  readonly #log: Log;
  readonly #clock: Clock;
  #since = Number.NEGATIVE_INFINITY;
  #logged = 0;
  #dropped = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  warn(message: string, fields: LogFields): void {
    const now = this.#clock.now();
    if (now - this.#since > SPAN) {
      this.#since = now;
      this.#logged = 0;
    }
    if (this.#logged >= MOST) {
      this.#dropped += 1;
      return;
    }
    this.#logged += 1;
    this.#log.warn(message, { ...fields, ...(this.#dropped > 0 && { untold: this.#dropped }) });
    this.#dropped = 0;
  }
}
