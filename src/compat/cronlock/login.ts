import type { Tool } from "./lock-name.ts";
import type { Variables } from "./variables.ts";

/** Who gets into etcd. Without a user, that of the site's own configuration. */
export interface Login {
  user?: string;
  password: string;
  source: string;
}

/** Variables that no command needs to see. */
export const CREDENTIALS = ["CRONLOCK_AUTH", "CRONLOCK_USER", "CRONLOCK_SENTINEL_AUTH"];

/**
 * CRONLOCK_AUTH: `user:password`, or a password alone; what Redis's AUTH takes from cronlock, `user password`, too. With
 * the CRONLOCK_USER of a later cronlock, all of it is the password.
 */
export function loginOf(tool: Tool, variables: Variables): Login | undefined {
  const auth = variables.get("CRONLOCK_AUTH");
  if (auth === undefined) return undefined;
  const user = variables.text("CRONLOCK_USER");
  if (user !== undefined) return { user, password: auth.value, source: auth.source };
  const parts =
    /^([^:\s]+):(.+)$/s.exec(auth.value) ?? (tool === "cronlock" ? /^(\S+) +(\S+)$/.exec(auth.value) : null);
  const [, name, secret] = parts ?? [];
  return name === undefined || secret === undefined
    ? { password: auth.value, source: auth.source }
    : { user: name, password: secret, source: auth.source };
}
