import type { Clock } from "../../base/clock.ts";
import { SignalboxError } from "../../base/errors.ts";
import type { MacroLookup } from "../../fleet/arithmetic.ts";

/** How long a measurement of the host counts, ms: many schedules can be due at once, and the kernel's averages change slowly. */
const MEASURED_FOR = 1_000;

/** The load of this host and of this worker, to compare it with that of other hosts. */
export class LoadMeter {
  readonly #measure: MacroLookup;
  readonly #clock: Clock;
  #measured = 0;
  #until = Number.NEGATIVE_INFINITY;

  /** @param measure  see `createConditionLookup` */
  constructor(measure: MacroLookup, clock: Clock) {
    this.#measure = measure;
    this.#clock = clock;
  }

  /**
   * Returns the highest of: the load average per processor, the pressure on the processors, and the part of the worker's slots that
   * are taken. The first one rises and falls within a minute, the second one within ten seconds, the last one at once. What the host
   * does not measure does not count.
   * @param taken  the part of the slots that are taken, 0 to 1
   * @returns 0 if the host is idle, 1 if it is busy; more if programs wait for processors
   */
  compute(taken: number): number {
    const now = this.#clock.now();
    if (now >= this.#until) {
      const processors = Math.max(1, this.#read("CPU"));
      this.#measured = Math.max(this.#read("load") / processors, this.#read("pressure.cpu") / 100);
      this.#until = now + MEASURED_FOR;
    }
    return Math.max(this.#measured, taken);
  }

  /** Reads a measure or macro; 0 if there is none. */
  #read(name: string): number {
    try {
      const value = Number(this.#measure(name) ?? 0);
      return value > 0 ? value : 0;
    } catch (error) {
      if (error instanceof SignalboxError) return 0;
      throw error;
    }
  }
}
