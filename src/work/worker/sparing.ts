import type { Clock } from "../../base/clock.ts";
import type { Log, LogFields } from "../../base/log.ts";

/** Lines in a span, and the span, ms. */
const MOST = 20;
const SPAN = 60_000;

/** Warnings that may come by the thousand: of more than some in a minute only the number is told. */
export class Sparing {
  readonly #log: Log;
  readonly #clock: Clock;
  #since = Number.NEGATIVE_INFINITY;
  #told = 0;
  #untold = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  warn(message: string, fields: LogFields): void {
    const now = this.#clock.now();
    if (now - this.#since > SPAN) {
      this.#since = now;
      this.#told = 0;
    }
    if (this.#told >= MOST) {
      this.#untold += 1;
      return;
    }
    this.#told += 1;
    this.#log.warn(message, { ...fields, ...(this.#untold > 0 && { untold: this.#untold }) });
    this.#untold = 0;
  }
}
