import { ConfigError, UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { evaluateComparison, type MacroLookup } from "./arithmetic.ts";
import type { KernelFileReader } from "./host.ts";

/** A condition on a host as it is now. */
export interface ConditionReading {
  /** As it was given: `load < CPU`. */
  condition: string;
  holds: boolean;
  /** The measures and macros that it names: `load is 5.2, CPU is 4`. Empty if it names none. */
  values: string;
}

/** Average time between two checks of a condition that does not hold, ms. The kernel computes the load every 5 s. */
export const CONDITION_INTERVAL = 5_000;

/** Finds the value in a file of the kernel. */
const LOAD_PATTERN = /^([\d.]+) /;
const PRESSURE_PATTERN = /^some avg10=([\d.]+) /m;
const MEASURES: ReadonlyMap<string, { path: string; value: RegExp }> = new Map([
  ["load", { path: "/proc/loadavg", value: LOAD_PATTERN }],
  ["pressure.cpu", { path: "/proc/pressure/cpu", value: PRESSURE_PATTERN }],
  ["pressure.memory", { path: "/proc/pressure/memory", value: PRESSURE_PATTERN }],
  ["pressure.io", { path: "/proc/pressure/io", value: PRESSURE_PATTERN }],
]);

const EXAMPLE = `write it as 'load < CPU', with ${[...MEASURES.keys()].join(", ")} and macros`;

/** Conditions on this host. All must hold. */
export class HostConditions {
  readonly #conditions: readonly string[];
  readonly #lookup: MacroLookup;

  /** @param lookup  see `createConditionLookup` */
  constructor(conditions: readonly string[], lookup: MacroLookup) {
    this.#conditions = conditions;
    this.#lookup = lookup;
  }

  /** Measures the host. @throws UsageError if it cannot evaluate a condition, ConfigError if it does not measure a value */
  read(): ConditionReading[] {
    return this.#conditions.map((condition) => readCondition(condition, this.#lookup));
  }

  /** Returns why the conditions do not hold now, as a clause; undefined if they hold. @throws as `read` */
  findUnmet(): string | undefined {
    const unmet = this.read().find(({ holds }) => !holds);
    return unmet && describeUnmet(unmet);
  }
}

function readCondition(condition: string, lookup: MacroLookup): ConditionReading {
  const values = new Map<string, number | string | undefined>();
  const result = evaluateComparison(condition, (name) => {
    const value = lookup(name);
    values.set(name, value);
    return value;
  });
  if ("fault" in result) throw new UsageError(`condition ${result.fault}`);
  const texts = [...values].map(([name, value]) => `${name} is ${value}`);
  return { condition, holds: result.value, values: texts.join(", ") };
}

export function describeUnmet({ condition, values }: ConditionReading): string {
  return `condition ${quoteText(condition)} does not hold${values === "" ? "" : `: ${values}`}`;
}

/**
 * Returns the fault of a condition, without the values of a host; undefined if there is none. Macros in capitals may be a
 * host's own.
 */
export function findConditionFault(condition: string): string | undefined {
  const isKnown = (name: string) => MEASURES.has(name) || /^[A-Z][A-Z0-9_]*$/.test(name);
  // With e, divisors such as `CPU - 2` do not become 0.
  const result = evaluateComparison(condition, (name) => (isKnown(name) ? Math.E : undefined));
  return "fault" in result ? `${result.fault}; ${EXAMPLE}` : undefined;
}

/** Checks the value of a flag. @throws UsageError */
export function parseCondition(text: string, flag: string): string {
  const fault = findConditionFault(text);
  if (fault !== undefined) throw new UsageError(`${flag} ${fault}`);
  return text;
}

/**
 * Returns what conditions can name: `load` (the average of the last minute), `pressure.cpu`, `pressure.memory` and
 * `pressure.io` (in percent: the part of the last 10 s in which some task waited for it), and the macros of the host.
 */
export function createConditionLookup(macros: MacroLookup, read: KernelFileReader): MacroLookup {
  return (name) => {
    const measure = MEASURES.get(name);
    if (measure === undefined) return macros(name);
    const [, value] = measure.value.exec(read(measure.path) ?? "") ?? [];
    if (value !== undefined) return Number(value);
    throw new ConfigError(
      `this host does not measure ${name}: ${measure.path} cannot be read; start Linux 4.20 or later with psi=1, or use load`,
    );
  };
}
