import { createSecureContext, type SecureContext } from "node:tls";
import { ConfigError } from "../base/errors.ts";
import type { TlsOptions } from "./options.ts";

/** Parses the certificates. @throws ConfigError when they are not PEM or the key does not match */
export function buildSecureContext({ ca, cert, key }: TlsOptions): SecureContext {
  try {
    return createSecureContext({ ca, cert, key });
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`the TLS certificates or the key for etcd cannot be used: ${what}`, { cause });
  }
}
