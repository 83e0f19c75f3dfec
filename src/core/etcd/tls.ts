import { createSecureContext, type SecureContext } from "node:tls";
import { ConfigError, getErrorMessage } from "../base/errors.ts";
import type { Certificates, TlsOptions } from "./options.ts";

/**
 * Parses the certificates.
 * @param what  names the certificates in the message
 * @throws ConfigError when they are not PEM or the key does not match
 */
export function buildSecureContext(
  { ca, cert, key }: Certificates,
  what = "the TLS certificates or the key for etcd",
): SecureContext {
  try {
    return createSecureContext({ ca, cert, key });
  } catch (cause) {
    throw new ConfigError(`${what} cannot be used: ${getErrorMessage(cause)}`, { cause });
  }
}

/**
 * The certificates of a store. Their files are read again for each connection after the first. While a file is missing, is
 * being written, or cannot be used, the certificates stay as they were.
 */
export class CertificateSource {
  readonly #readAgain: TlsOptions["readAgain"];
  #certificates: Certificates;
  #context: SecureContext;
  #isUsed = false;

  /** @throws ConfigError */
  constructor({ readAgain, ...certificates }: TlsOptions = {}) {
    this.#readAgain = readAgain;
    this.#certificates = certificates;
    this.#context = buildSecureContext(certificates);
  }

  /** Returns the certificates for a new connection. */
  readLatest(): { certificates: Certificates; context: SecureContext } {
    if (this.#isUsed) this.#refresh();
    this.#isUsed = true;
    return { certificates: this.#certificates, context: this.#context };
  }

  #refresh(): void {
    try {
      const latest = this.#readAgain?.() ?? this.#certificates;
      const { ca, cert, key } = this.#certificates;
      if (latest.ca === ca && latest.cert === cert && latest.key === key) return;
      this.#context = buildSecureContext(latest);
      this.#certificates = latest;
    } catch {} // the former ones may still be accepted
  }
}
