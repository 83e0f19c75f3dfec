import type { Clock, Millis } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { ClusterMemory } from "./cluster/cluster-memory.ts";
import type { StoreError } from "./store.ts";

export interface StoreOptions {
  /** `host`, `host:2379`, `http://…` or `https://…`; one or more. */
  endpoints: string[];
  /**
   * The cluster of the endpoints. Responses from another one are rejected. Default: the remembered cluster, else the
   * first that answers.
   */
  clusterId?: bigint;
  /** Where this host remembers the cluster of these endpoints. Default: nowhere. */
  clusterMemory?: ClusterMemory;
  /** `http` is etcd's JSON gateway, `grpc` the npm client etcd3. Default `auto`. */
  transport?: "auto" | "http" | "grpc";
  /** `auto` means `grpc` if possible: for a long-running process, which may take longer to start. */
  prefersGrpc?: boolean;
  user?: string;
  password?: string;
  /** The file with the password. It is read again when etcd refuses the password. */
  passwordFile?: string;
  /** Send the password over a connection without TLS. Default false. */
  allowPlaintextPassword?: boolean;
  tls?: TlsOptions;
  timeouts?: Partial<Timeouts>;
  /** Put all watches on one stream, for a process with many watches. Has no effect with a login or over gRPC. */
  sharesWatches?: boolean;
}

/** PEM texts, not paths. */
export interface Certificates {
  ca?: string;
  cert?: string;
  key?: string;
}

export interface TlsOptions extends Certificates {
  /** Reads the files of the certificates again: they are renewed while programs run. @throws ConfigError */
  readAgain?: () => Certificates;
  /** The name that the server's certificate must contain when it differs from the endpoint's host. */
  serverName?: string;
  /** Accept any server certificate. Only the transport `http` supports this. */
  insecureSkipVerify?: boolean;
}

/** The environment of a store. */
export interface StorePorts {
  clock: Clock;
  /**
   * Selects the member that calls try first; default the first one. Spreads hosts over the members.
   */
  random?: Random;
  /** Called once if the first calls have no answer for two seconds. They go on. */
  onSilence?: ((error: StoreError) => void) | undefined;
}

/** The validated options. */
export interface CheckedOptions extends StoreOptions {
  parsed: Endpoint[];
  transport: "http" | "grpc";
}

/**
 * Validates the options.
 * @throws ConfigError for invalid endpoints, half a key pair, half a login, mixed schemes, and for a password that
 * would be sent in plain text
 */
export function checkStoreOptions(options: StoreOptions): CheckedOptions {
  const { tls, user, password } = options;
  const parsed = options.endpoints.map((text) => parseEndpoint(text, tls !== undefined));
  if (parsed.length === 0) throw new ConfigError("no endpoint of etcd is configured; set endpoints");
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) {
    throw new ConfigError("a client certificate needs both the certificate and its key; set cert and key");
  }
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError(
      `etcd needs both user and password, but only the ${user === undefined ? "password" : "user"} is set`,
    );
  }
  const open = parsed.find((endpoint) => !endpoint.secure);
  if (open && tls) throw new ConfigError(`TLS is configured, but ${open.url} is not https`);
  if (open && password !== undefined && !options.allowPlaintextPassword) {
    throw new ConfigError(
      `the password would be sent to ${open.url} without TLS; use https, or set allowPlaintextPassword`,
    );
  }
  return { ...options, parsed, transport: chooseTransport(options) };
}

/**
 * Chooses the transport. `auto` is the lighter one, `http`, unless the process prefers gRPC, or the client certificate may
 * be the identity: the gateway presents its own certificate to etcd, so etcd would not see the client's.
 */
export function chooseTransport(options: StoreOptions): "http" | "grpc" {
  const { transport = "auto", tls, user, prefersGrpc = false } = options;
  if (transport !== "auto") return transport;
  if (tls?.cert !== undefined && user === undefined) return "grpc";
  return prefersGrpc && tls?.insecureSkipVerify !== true ? "grpc" : "http";
}

export interface Timeouts {
  /**
   * Limit for a first attempt. If the only member was quick before and is silent now, half of it. Each further attempt
   * on the same member gets twice as long. Default 2,000.
   */
  attempt: Millis;
  /**
   * Time without a response after which a copy goes to another member, if there is one. Longer when all members are
   * slow. Default 600.
   */
  hedge: Millis;
  /** Limit for a call with all its attempts. Default 6,000. */
  total: Millis;
  /** Interval of progress requests on a quiet watch. Default 10,000. */
  probe: Millis;
  /** Limit for a login. Default 10,000. */
  login: Millis;
}

/** The client address of one etcd member. */
export interface Endpoint {
  /** The URL in messages: `http://host:2379`. */
  url: string;
  secure: boolean;
  /** A name or an address; IPv6 without brackets. */
  host: string;
  port: number;
}

const DEFAULT_PORT = 2379;

/**
 * Parses `host`, `host:2379`, `http://…`, `https://…`, `[::1]:2379`.
 * @param secure scheme of an endpoint without one: https when TLS is configured
 * @throws ConfigError that quotes the text
 */
export function parseEndpoint(text: string, secure: boolean): Endpoint {
  const trimmed = text.trim();
  const withScheme = trimmed.includes("://")
    ? trimmed
    : `${secure ? "https" : "http"}://${addBrackets(trimmed)}`;
  const url = URL.parse(withScheme);
  const proper = url && /^https?:$/.test(url.protocol) && url.hostname !== "" && url.username === "";
  if (!proper || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    const example = "use host:2379, http://host:2379 or https://host:2379";
    throw new ConfigError(`${JSON.stringify(text)} is not an endpoint of etcd; ${example}`);
  }
  const port = url.port === "" ? parsePort(withScheme) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { url: `${url.protocol}//${url.hostname}:${port}`, secure: url.protocol === "https:", host, port };
}

/** Adds brackets to a bare IPv6 address. */
function addBrackets(text: string): string {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) ? `[${text}]` : text;
}

/**
 * Reads the port from the text. URL drops a scheme's default port, which makes `http://host:80` and `http://host` look
 * the same.
 */
function parsePort(text: string): number {
  const written = /:(\d+)\/?$/.exec(text)?.[1];
  return written === undefined ? DEFAULT_PORT : Number(written);
}
