import type { CronlockTool } from "./lock-name.ts";
import type { ToolVariables } from "./variables.ts";

/** The login for etcd. Without a user, the one of the signalbox configuration is used. */
export interface CronlockLogin {
  user?: string;
  password: string;
  source: string;
}

/** Variables with credentials, which no command needs. */
export const CREDENTIALS = ["CRONLOCK_AUTH", "CRONLOCK_USER", "CRONLOCK_SENTINEL_AUTH"];

/**
 * Parses CRONLOCK_AUTH: `user:password`, or a password alone; for cronlock also `user password`, as for Redis's AUTH.
 * If CRONLOCK_USER of newer cronlock versions is set, the whole text is the password.
 */
export function parseCronlockLogin(tool: CronlockTool, variables: ToolVariables): CronlockLogin | undefined {
  const auth = variables.get("CRONLOCK_AUTH");
  if (auth === undefined) return undefined;
  const user = variables.getText("CRONLOCK_USER");
  if (user !== undefined) return { user, password: auth.value, source: auth.source };
  const parts =
    /^([^:\s]+):(.+)$/s.exec(auth.value) ?? (tool === "cronlock" ? /^(\S+) +(\S+)$/.exec(auth.value) : null);
  const [, name, secret] = parts ?? [];
  return name === undefined || secret === undefined
    ? { password: auth.value, source: auth.source }
    : { user: name, password: secret, source: auth.source };
}
