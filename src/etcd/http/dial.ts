import { connect, isIP, type Socket } from "node:net";
import type { Endpoint } from "../endpoint.ts";
import type { TlsOptions } from "../options.ts";

/** Idle time before the kernel sends keep-alive probes, ms. */
const KEEP_ALIVE_MS = 10_000;

/** Opens a connection. Data written before it is established is queued. */
type Dialer = () => Socket;

export function createPlainDialer({ host, port }: Endpoint): Dialer {
  return () => tuneSocket(connect({ host, port }));
}

/**
 * Builds a dialer for TLS. Loads node:tls on demand, because that takes half the time of a run.
 * @throws ConfigError for bad certificates
 */
export async function createSecureDialer(
  { host, port }: Endpoint,
  options: TlsOptions = {},
): Promise<Dialer> {
  const [tls, { buildSecureContext }] = await Promise.all([import("node:tls"), import("../tls.ts")]);
  const { serverName = isIP(host) === 0 ? host : undefined, insecureSkipVerify } = options;
  const target = {
    host,
    port,
    secureContext: buildSecureContext(options),
    rejectUnauthorized: !insecureSkipVerify,
    ALPNProtocols: ["http/1.1"],
    // Omit the name when it is undefined: node:tls treats an undefined servername as an empty one.
    ...(serverName !== undefined && { servername: serverName }),
  };
  return () => tuneSocket(tls.connect(target));
}

function tuneSocket<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}
