import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import type { Settings } from "../config/settings.ts";
import type { StoreOptions, TlsOptions } from "./open.ts";

/** What a store is opened with. @throws ConfigError */
export function storeOptions(values: Settings): StoreOptions {
  const tls = tlsOptions(values);
  return {
    endpoints: [...values.endpoints],
    transport: values.transport,
    allowPlaintextPassword: values.allowPlaintextPassword,
    ...(values.user !== undefined && { user: values.user }),
    ...(values.password !== undefined && { password: values.password }),
    ...(tls !== undefined && { tls }),
  };
}

/** TLS as the settings want it; undefined where no endpoint is https. */
function tlsOptions(values: Settings): TlsOptions | undefined {
  if (!values.endpoints.some((endpoint) => endpoint.startsWith("https:"))) return undefined;
  const { cacert, cert, key, serverName } = values;
  if (key !== undefined) checkPrivate(key);
  return {
    ...(cacert !== undefined && { ca: pem("cacert", cacert) }),
    ...(cert !== undefined && { cert: pem("cert", cert) }),
    ...(key !== undefined && { key: pem("key", key) }),
    ...(serverName !== undefined && { serverName }),
    insecureSkipVerify: values.insecureSkipTlsVerify,
  };
}

function pem(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`${setting}: ${(cause as Error).message}`, { cause });
  }
}

/** A key that everybody can read is nobody's key. The group may read it: that is how services share one. */
function checkPrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o007) !== 0)
    throw new ConfigError(`key: ${path} can be read by everybody; run: chmod o= ${path}`);
}
