import { resolveConfig } from "../config/config.ts";
import type { Env } from "../config/files.ts";
import type { ConfigLayer } from "../config/layers.ts";

/**
 * Whether the signalbox configuration names endpoints, so that the address of another tool's server is not needed.
 */
export function hasEndpoints(env: Env, options?: ConfigLayer): boolean {
  return resolveConfig({ env, ...(options && { options }) }).sources.endpoints !== "default";
}
