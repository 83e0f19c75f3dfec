import { resolveConfig } from "../config/config.ts";
import type { Call, CommandIo } from "./spec.ts";

/**
 * Raises the default verbosity to `-v`, so that a service logs what it does, unless the configuration sets the log
 * level.
 */
export function raiseVerbosity(call: Call, { env }: CommandIo): Call {
  if (call.verbosity !== 0) return call;
  const { sources } = resolveConfig({ flags: call.settings, env });
  return sources.logLevel === "default" ? { ...call, verbosity: 1 } : call;
}
