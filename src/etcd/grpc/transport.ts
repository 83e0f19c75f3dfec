/**
 * The gRPC transport: the raw clients of the npm package etcd3. The package loads slowly, so this module is imported
 * only when chosen.
 */
import type { IOptions } from "etcd3";
import { ConfigError } from "../../base/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Member } from "../member.ts";
import type { CheckedOptions } from "../options.ts";
import { buildSecureContext } from "../tls.ts";
import type { ByteCodec } from "../wire-codec.ts";
import { GrpcMember } from "./grpc-member.ts";
import { loadEtcd3 } from "./load-etcd3.ts";

/** Keys and values are strings: messages/ converts them to bytes. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => key,
  fromText: (text) => text,
  toKey: (key) => key ?? "",
  toText: (text) => text ?? "",
};

/** @throws ConfigError for options that etcd3 does not support, and if etcd3 is not installed */
export async function openMembers(options: CheckedOptions): Promise<Member[]> {
  if (options.tls?.insecureSkipVerify) {
    throw new ConfigError(
      "transport grpc cannot skip the check of the server's certificate: configure its CA instead",
    );
  }
  buildSecureContext(options.tls ?? {}); // gRPC would report errors only with the first call
  const { Etcd3 } = await loadEtcd3();
  return options.parsed.map((endpoint) => {
    return new GrpcMember(endpoint.url, () => new Etcd3(buildClientOptions(endpoint, options)));
  });
}

let generation = 0;

type Policy = NonNullable<NonNullable<IOptions["faultHandling"]>["global"]>;

/**
 * Disables etcd3's own retries and circuit breakers: they repeat mutations, and refuse calls to a member that has
 * recovered. Failover handles both.
 */
const noop = {
  execute: (work: (context: object) => unknown) => Promise.resolve().then(() => work({})),
} as unknown as Policy;

function buildClientOptions(endpoint: Endpoint, { tls }: CheckedOptions): IOptions {
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  return {
    hosts: `${endpoint.secure ? "https" : "http"}://${host}:${endpoint.port}`,
    ...(endpoint.secure && tls && buildCredentials(tls)),
    faultHandling: { global: noop, host: () => noop },
    grpcOptions: {
      // gRPC shares connections between clients with equal options. A replacement must not reuse the old connection.
      "signalbox.generation": ++generation,
      // Failover retries much sooner than gRPC's default backoff of 1 s to 2 min allows.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1000,
      // etcd treats more than one ping every 5 s as an attack.
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 6_000, // as long as a call: a machine that pauses briefly keeps its connections
      "grpc.max_receive_message_length": -1,
      "grpc.enable_retries": 0,
      // The http transport uses no proxy either, and a variable for web traffic must not redirect locks.
      "grpc.enable_http_proxy": 0,
      ...(tls?.serverName !== undefined && {
        "grpc.ssl_target_name_override": tls.serverName,
        "grpc.default_authority": tls.serverName,
      }),
    },
  };
}

function buildCredentials(tls: NonNullable<CheckedOptions["tls"]>): Pick<IOptions, "credentials"> {
  const { ca, cert, key } = tls;
  if (ca === undefined && cert === undefined) return {};
  const credentials = {
    ...(ca !== undefined && { rootCertificate: Buffer.from(ca) }),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
  // Only etcd3's types require a root certificate. Without one, gRPC uses the default authorities.
  return { credentials: credentials as NonNullable<IOptions["credentials"]> };
}
