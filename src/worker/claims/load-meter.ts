import { addMs, type Clock, LONG_AGO } from "../../core/base/clock.ts";
import { SignalboxError } from "../../core/base/errors.ts";
import type { MacroLookup } from "../../core/fleet/arithmetic.ts";

/** How long a measurement of the host counts, ms: many schedules can be due at once, and the kernel's averages change slowly. */
const MEASURED_FOR = 1_000;

/**
 * Creates a meter of the load of this host and of this worker, to compare it with that of other hosts.
 * @param measure  see `createConditionLookup`
 * @returns a function that returns the highest of: the load average per processor, the pressure on the processors, and the part of the
 *   worker's slots that are taken, 0 to 1, which is its argument. The first one rises and falls within a minute, the second one within ten
 *   seconds, the last one at once. What the host does not measure does not count. 0: the host is idle, 1: it is busy; more: programs
 *   wait for processors
 */
export function createLoadMeter(measure: MacroLookup, clock: Clock): (taken: number) => number {
  let measured = 0;
  let until = LONG_AGO;
  return (taken) => {
    const now = clock.now();
    if (now >= until) {
      const perProcessor = readMeasure(measure, "load") / Math.max(1, readMeasure(measure, "CPU"));
      measured = Math.max(perProcessor, readMeasure(measure, "pressure.cpu") / 100);
      until = addMs(now, MEASURED_FOR);
    }
    return Math.max(measured, taken);
  };
}

/** Reads a measure or macro; 0 if there is none. */
function readMeasure(measure: MacroLookup, name: string): number {
  try {
    const value = Number(measure(name) ?? 0);
    return value > 0 ? value : 0;
  } catch (error) {
    if (error instanceof SignalboxError) return 0;
    throw error;
  }
}
