/**
 * The lightweight transport: etcd's JSON gateway. It is on the start-up path of `run`, so it loads nothing but
 * node:net.
 */

import { connect, isIP, type Socket } from "node:net";
import type { Endpoint } from "../endpoint.ts";
import type { AttemptOptions, Member, Rpc, WatchStream } from "../member.ts";
import type { CheckedOptions, TlsOptions } from "../options.ts";
import type { ByteCodec } from "../wire-codec.ts";
import { ConnectionPool } from "./connection.ts";
import { type GatewayTarget, postRequest, unwrapResponse } from "./gateway-request.ts";
import { openGatewayStream } from "./stream.ts";

/**
 * The lightweight transport: etcd's JSON gateway. It is on the start-up path of `run`, so it loads nothing but
 * node:net.
 */
/** JSON omits zero bytes, hence undefined. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => Buffer.from(key, "latin1").toString("base64"),
  fromText: (text) => Buffer.from(text, "utf8").toString("base64"),
  toKey: (base64) => Buffer.from(base64 ?? "", "base64").toString("latin1"),
  toText: (base64) => Buffer.from(base64 ?? "", "base64").toString("utf8"),
};

export async function openMembers(options: CheckedOptions): Promise<Member[]> {
  const members = options.parsed.map(async (endpoint) => {
    const dial = endpoint.secure
      ? await createSecureDialer(endpoint, options.tls)
      : createPlainDialer(endpoint);
    return new HttpMember({ url: endpoint.url, pool: new ConnectionPool(dial) });
  });
  return await Promise.all(members);
}

/** Idle time before the kernel sends keep-alive probes, ms. */
const KEEP_ALIVE_MS = 10_000;

/** Opens a connection. Data written before it is established is queued. */
type Dialer = () => Socket;

function createPlainDialer({ host, port }: Endpoint): Dialer {
  return () => tuneSocket(connect({ host, port }));
}

/**
 * Builds a dialer for TLS. Loads node:tls on demand, because that takes half the time of a run.
 * @throws ConfigError for bad certificates
 */
async function createSecureDialer({ host, port }: Endpoint, options: TlsOptions = {}): Promise<Dialer> {
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

const PATHS: Record<Rpc, string> = {
  authenticate: "/v3/auth/authenticate",
  grant: "/v3/lease/grant",
  renew: "/v3/lease/keepalive",
  remaining: "/v3/lease/timetolive",
  revoke: "/v3/lease/revoke",
  range: "/v3/kv/range",
  txn: "/v3/kv/txn",
  status: "/v3/maintenance/status",
  roster: "/v3/cluster/member/list",
};

/** One member over its JSON gateway. */
class HttpMember implements Member {
  readonly endpoint: string;
  readonly #target: GatewayTarget;

  constructor(line: GatewayTarget) {
    this.endpoint = line.url;
    this.#target = line;
  }

  async call(rpc: Rpc, request: object, { signal, fresh, token }: AttemptOptions): Promise<unknown> {
    if (fresh) this.#target.pool.dropIdle();
    const answer = await postRequest(this.#target, PATHS[rpc], JSON.stringify(request), token, signal);
    return unwrapResponse(this.#target, answer);
  }

  async openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream> {
    return openGatewayStream(this.#target, token, signal);
  }

  close(): void {
    this.#target.pool.close();
  }
}
