import { ConfigError } from "../base/errors.ts";
import { parseJson } from "../base/parse-json.ts";
import { type ParseResult, quoteText } from "../base/text.ts";
import { evaluateUnits } from "./arithmetic.ts";
import type { Macros } from "./macros.ts";

/** The configuration of a resource, stored under `config/resources/<name>`. */
export interface ResourceConfig {
  /**
   * A number, or an expression with macros: `FQDN_mem` has a different total on each host. Without a total, the
   * resource is known and listed, but runs state the total themselves, as for a resource without configuration.
   */
  total?: string;
  /** Position in listings, smallest first. */
  order?: number;
  note?: string;
  /** The source that owns it: `signalbox apply --owner`. */
  source?: string;
}

/** Maximum length of a note, in characters. */
export const LONGEST_NOTE = 500;

/** Checks a total. Returns what is wrong with it, or undefined. */
export type TotalCheck = (resource: string, total: string) => string | undefined;

/**
 * Parses the configuration of a resource. Also accepts a bare number or expression, so that you can set it by hand:
 * `etcdctl put /signalbox/config/resources/db 10`. Accepts unknown fields.
 */
export function parseResourceConfig(text: string): ParseResult<ResourceConfig> {
  const value = parseJson(text);
  if (value === undefined) return { value: { total: text.trim() } };
  if (typeof value === "number" || typeof value === "string") return { value: { total: String(value) } };
  const { total, order, note, source } = Object(value) as Record<string, unknown>;
  const isNone = total === undefined && value !== null && !Array.isArray(value);
  if (!isNone && typeof total !== "string" && typeof total !== "number") {
    return { fault: `${quoteText(text)} has no total; set it with: signalbox resource set NAME TOTAL` };
  }
  return {
    value: {
      ...(total !== undefined && { total: String(total) }),
      ...(typeof order === "number" && { order }),
      ...(typeof note === "string" && { note }),
      ...(typeof source === "string" && { source }),
    },
  };
}

/** Serializes a resource configuration for etcd. `parseResourceConfig` reads it. */
export function serializeResourceConfig(config: ResourceConfig): string {
  return JSON.stringify({ v: 1, ...config });
}

/**
 * Evaluates the total of a resource configuration on a host. Returns undefined if the configuration has no total.
 * @param text  value of the configuration key
 * @throws ConfigError if the value is malformed, or its result is not a positive whole number
 */
export function evaluateConfiguredTotal(text: string, macros: Macros): number | undefined {
  const config = parseResourceConfig(text);
  if ("value" in config && config.value.total === undefined) return undefined;
  const total = "fault" in config ? config : evaluateUnits(config.value.total ?? "", macros.lookup);
  if ("fault" in total) throw new ConfigError(`configured total: ${total.fault}`);
  return total.value;
}
