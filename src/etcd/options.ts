import type { Clock } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import type { Timeouts } from "./failover-call.ts";

export interface StoreOptions {
  /** `host`, `host:2379`, `http://…` or `https://…`; one or more. */
  endpoints: string[];
  /** `http` is etcd's JSON gateway, `grpc` the npm client etcd3. Default `auto`. */
  transport?: "auto" | "http" | "grpc";
  user?: string;
  password?: string;
  /** Send the password over a connection without TLS. Default false. */
  allowPlaintextPassword?: boolean;
  tls?: TlsOptions;
  timeouts?: Partial<Timeouts>;
}

export interface TlsOptions {
  /** PEM text, not a path. */
  ca?: string;
  cert?: string;
  key?: string;
  /** The name that the server's certificate must carry, when it is not the endpoint's host. */
  serverName?: string;
  /** Believe any server. Only `http` can. */
  insecureSkipVerify?: boolean;
}

/** What the store needs from its process. */
export interface StorePorts {
  clock: Clock;
  /** Which member calls start with: uniform in [0, 1). Without it the first. Spreads many hosts over the members. */
  unit?: () => number;
}

/** The options, checked. */
export interface CheckedOptions extends StoreOptions {
  parsed: Endpoint[];
  transport: "http" | "grpc";
}

/**
 * @throws ConfigError for endpoints that are none, half a key pair, half a login, mixed schemes, and for a password
 * that would go over the wire in the clear
 */
export function checkOptions(options: StoreOptions): CheckedOptions {
  const { tls, user, password } = options;
  const parsed = options.endpoints.map((text) => parseEndpoint(text, tls !== undefined));
  if (parsed.length === 0) throw new ConfigError("no endpoint of etcd is configured");
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) {
    throw new ConfigError("a client certificate needs both the certificate and its key");
  }
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError(
      `etcd's user and password come together, and only the ${user === undefined ? "password" : "user"} is set`,
    );
  }
  const open = parsed.find((endpoint) => !endpoint.secure);
  if (open && tls) throw new ConfigError(`TLS is configured, but ${open.url} is not https`);
  if (open && password !== undefined && !options.allowPlaintextPassword) {
    throw new ConfigError(
      `the password would go to ${open.url} in the clear: use https, or allow it explicitly`,
    );
  }
  return { ...options, parsed, transport: chosenTransport(options) };
}

/**
 * `auto` is the lean transport, except where the client certificate may be the identity: the gateway presents its own
 * certificate to etcd, so etcd would not see ours.
 */
export function chosenTransport({ transport = "auto", tls, user }: StoreOptions): "http" | "grpc" {
  if (transport !== "auto") return transport;
  return tls?.cert !== undefined && user === undefined ? "grpc" : "http";
}
