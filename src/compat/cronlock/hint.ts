import { ConfigError, EXIT } from "../../base/errors.ts";
import { explainError } from "../../commands/explain-error.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { createValueLayer } from "../../config/layers.ts";
import { hasEndpoints } from "../endpoints.ts";
import { findPortHint } from "./settings/addresses.ts";
import type { CronlockOptions } from "./settings/cronlock-options.ts";
import { buildLoginSettings, type RequestedSettings, type SignalboxConfig } from "./settings/settings.ts";

/** Returns which of the tool's variables may have caused a failure, or undefined. */
export function findConfigHint(error: unknown, parsed: CronlockOptions, env: Env): string | undefined {
  if (explainError(error).exitCode === EXIT.unreachable)
    return parsed.endpoints === undefined
      ? findEndpointsHint(parsed, env)
      : findPortHint(parsed.endpoints.value);
  if (!(error instanceof ConfigError) || parsed.login === undefined) return undefined;
  const canResolve = (more: RequestedSettings) => {
    try {
      resolveConfig({ env, options: createValueLayer({ ...buildAccessSettings(parsed), ...more }) });
      return true;
    } catch {
      return false;
    }
  };
  const [user, plain] = [createSetting("somebody"), { allowPlaintextPassword: createSetting("true") }];
  if (canResolve({})) return undefined;
  if (parsed.login.user === undefined && canResolve({ user, ...plain }))
    return "CRONLOCK_AUTH contains only a password: write user:password, or name the user in SIGNALBOX_USER";
  return canResolve(plain)
    ? "use TLS with CRONLOCK_TLS=yes, or allow it with SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD=true"
    : undefined;
}

/** Returns a hint if no endpoints are configured. Lines that used a Redis on their own host name no address. */
function findEndpointsHint(parsed: CronlockOptions, env: Env): string | undefined {
  const options = createValueLayer({
    ...buildAccessSettings(parsed),
    allowPlaintextPassword: createSetting("true"),
  });
  return hasEndpoints(env, options)
    ? undefined
    : "no address of etcd is configured: set CRONLOCK_HOST or SIGNALBOX_ENDPOINTS";
}

/** Returns a function that reads the signalbox configuration, with the login for its etcd. @throws ConfigError */
export function createConfigReader(parsed: CronlockOptions, env: Env): () => SignalboxConfig {
  const login = { ...buildLoginSettings(parsed), allowPlaintextPassword: createSetting("true") };
  const options = createValueLayer(login);
  return () => resolveConfig({ env, options }).values;
}

function buildAccessSettings(parsed: CronlockOptions): RequestedSettings {
  const { endpoints } = parsed;
  return { ...(endpoints !== undefined && { endpoints }), ...buildLoginSettings(parsed) };
}

function createSetting(value: string) {
  return { value, source: "" };
}
