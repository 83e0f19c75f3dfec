import { resolveConfig } from "../config/config.ts";
import type { Env } from "../config/files.ts";
import type { Layer } from "../config/layers.ts";

/** Whether signalbox's own configuration says where etcd is, so that no address of another tool's server is needed. */
export function hasEndpoints(env: Env, options?: Layer): boolean {
  return resolveConfig({ env, ...(options && { options }) }).sources.endpoints !== "default";
}
