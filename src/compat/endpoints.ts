import { resolveConfig } from "../config/config.ts";
import type { Env } from "../config/files.ts";

/** Whether signalbox's own configuration says where etcd is, so that no address of another tool's server is needed. */
export function hasEndpoints(env: Env): boolean {
  return resolveConfig({ env }).sources.endpoints !== "default";
}
