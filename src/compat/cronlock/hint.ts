import { ConfigError, EXIT } from "../../base/errors.ts";
import { explained } from "../../commands/perform.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { gatheredLayer } from "../../config/layers.ts";
import { hasEndpoints } from "../endpoints.ts";
import { portHint } from "./addresses.ts";
import type { Asked, Own } from "./settings.ts";
import type { Wish } from "./wish.ts";

/** What a failure has to do with the tool's own variables, or undefined. */
export function hintFor(error: unknown, wish: Wish, env: Env): string | undefined {
  if (explained(error).exitCode === EXIT.unreachable)
    return wish.endpoints === undefined ? nowhereHint(wish, env) : portHint(wish.endpoints.value);
  if (!(error instanceof ConfigError) || wish.login === undefined) return undefined;
  const resolves = (more: Asked) => {
    try {
      resolveConfig({ env, options: gatheredLayer({ ...accessOf(wish), ...more }) });
      return true;
    } catch {
      return false;
    }
  };
  const [user, plain] = [made("somebody"), { allowPlaintextPassword: made("true") }];
  if (resolves({})) return undefined;
  if (wish.login.user === undefined && resolves({ user, ...plain }))
    return "CRONLOCK_AUTH holds a password alone: write user:password, or name the user in SIGNALBOX_USER";
  return resolves(plain)
    ? "CRONLOCK_TLS=yes makes it https; SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD=true allows it as it is"
    : undefined;
}

/** Lines that relied on a Redis of their own host name no address, and neither may anything else. */
function nowhereHint(wish: Wish, env: Env): string | undefined {
  const options = gatheredLayer({ ...accessOf(wish), allowPlaintextPassword: made("true") });
  return hasEndpoints(env, options)
    ? undefined
    : "no address of etcd is configured: set CRONLOCK_HOST or SIGNALBOX_ENDPOINTS";
}

/** What the site's own configuration says, read with the login that its etcd will get. @throws ConfigError */
export function ownOf(wish: Wish, env: Env): () => Own {
  const { endpoints, ...login } = accessOf(wish);
  const options = gatheredLayer({ ...login, allowPlaintextPassword: made("true") });
  return () => resolveConfig({ env, options }).values;
}

function accessOf({ endpoints, login }: Wish): Asked {
  return {
    ...(endpoints !== undefined && { endpoints }),
    ...(login?.user !== undefined && { user: { value: login.user, source: login.source } }),
    ...(login !== undefined && { password: { value: login.password, source: login.source } }),
  };
}

function made(value: string) {
  return { value, source: "" };
}
