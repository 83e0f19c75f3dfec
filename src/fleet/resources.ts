import { ConfigError } from "../base/errors.ts";
import { type Parsed, quoted } from "../base/text.ts";
import { evaluateUnits } from "./arithmetic.ts";
import type { Macros } from "./macros.ts";

/** What operators keep about a resource, under `config/resources/<name>`. */
export interface ResourceConfig {
  /**
   * A number, or an expression over macros: `FQDN_mem` has another total on every host. Without one the name is known
   * and listed, and runs state the total themselves, as where nothing is configured.
   */
  total?: string;
  /** Place in listings, smallest first. */
  order?: number;
  note?: string;
}

/**
 * The value of a resource's configuration. A bare number or expression does as well, so that one can be put by hand:
 * `etcdctl put /signalbox/config/resources/db 10`. Unknown fields pass.
 */
export function parseResource(text: string): Parsed<ResourceConfig> {
  const value = json(text);
  if (value === undefined) return { value: { total: text.trim() } };
  if (typeof value === "number" || typeof value === "string") return { value: { total: String(value) } };
  const { total, order, note } = Object(value) as Record<string, unknown>;
  const isNone = total === undefined && value !== null && !Array.isArray(value);
  if (!isNone && typeof total !== "string" && typeof total !== "number") {
    return { fault: `${quoted(text)} has no total; set it with: signalbox resource set NAME TOTAL` };
  }
  return {
    value: {
      ...(total !== undefined && { total: String(total) }),
      ...(typeof order === "number" && { order }),
      ...(typeof note === "string" && { note }),
    },
  };
}

/** The value to keep in etcd, as `parseResource` reads it. */
export function resourceText(config: ResourceConfig): string {
  return JSON.stringify({ v: 1, ...config });
}

/**
 * The total that a resource's configuration means on a host; undefined where it states none.
 * @param text  value of the configuration key
 * @throws ConfigError when it is malformed, or not a positive whole number there
 */
export function configuredTotal(text: string, macros: Macros): number | undefined {
  const config = parseResource(text);
  if ("value" in config && config.value.total === undefined) return undefined;
  const total = "fault" in config ? config : evaluateUnits(config.value.total ?? "", macros.lookup);
  if ("fault" in total) throw new ConfigError(`configured total: ${total.fault}`);
  return total.value;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
