import { connect, isIP, type Socket } from "node:net";
import type { Endpoint } from "../endpoint.ts";
import type { TlsOptions } from "../options.ts";

/** The kernel asks a silent peer for a sign of life after this many milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** Opens a connection; what is written before it is there waits. */
export type Dial = () => Socket;

export function plainDial({ host, port }: Endpoint): Dial {
  return () => tuned(connect({ host, port }));
}

/** Loads node:tls, which costs half a run's time, only for those who need it. @throws ConfigError for bad certificates */
export async function secureDial({ host, port }: Endpoint, options: TlsOptions = {}): Promise<Dial> {
  const [tls, { secureContext }] = await Promise.all([import("node:tls"), import("../tls.ts")]);
  const { serverName = isIP(host) === 0 ? host : undefined, insecureSkipVerify } = options;
  const target = {
    ...{ host, port, secureContext: secureContext(options), rejectUnauthorized: !insecureSkipVerify },
    ALPNProtocols: ["http/1.1"],
    // What is undefined must be absent: node:tls takes an undefined servername for an empty one.
    ...(serverName !== undefined && { servername: serverName }),
  };
  return () => tuned(tls.connect(target));
}

function tuned<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}
