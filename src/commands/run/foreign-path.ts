import { isAbsolute } from "node:path";
import type { Env } from "../../config/files.ts";
import { getEnvVariableName, getSetting, SETTING_KEYS } from "../../config/settings.ts";
import type { Call } from "../command.ts";

/**
 * Finds a path in a call that an agent cannot use in the name of the caller: one relative to the caller's
 * directory, or any path of another user, whose files the agent must neither read nor write.
 */
export function findForeignPath(call: Call<object>, env: Env, isOwnUser: boolean): string | undefined {
  for (const key of ["config", ...SETTING_KEYS] as const) {
    const setting = key === "config" ? undefined : getSetting(key);
    if ((setting !== undefined && !setting.kind.isPath) || key === "agentSocket") continue;
    const variable = key === "config" ? "SIGNALBOX_CONFIG" : getEnvVariableName(key);
    for (const path of [call.settings[key], env[variable], setting?.etcdctl && env[setting.etcdctl]]) {
      if (typeof path !== "string" || path === "") continue;
      if (!isOwnUser || !isAbsolute(path)) return path;
    }
  }
  return undefined;
}
