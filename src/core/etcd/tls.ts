import { createSecureContext, type SecureContext } from "node:tls";
import { ConfigError, getErrorMessage } from "../base/errors.ts";
import type { TlsOptions } from "./options.ts";

/**
 * Parses the certificates.
 * @param what  names the certificates in the message
 * @throws ConfigError when they are not PEM or the key does not match
 */
export function buildSecureContext(
  { ca, cert, key }: Pick<TlsOptions, "ca" | "cert" | "key">,
  what = "the TLS certificates or the key for etcd",
): SecureContext {
  try {
    return createSecureContext({ ca, cert, key });
  } catch (cause) {
    throw new ConfigError(`${what} cannot be used: ${getErrorMessage(cause)}`, { cause });
  }
}
