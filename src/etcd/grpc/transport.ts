/**
 * The gRPC transport: the npm client etcd3, of which only the raw clients are used. Slow to load, so it is imported
 * only when chosen.
 */
import { Etcd3, type IOptions } from "etcd3";
import { ConfigError } from "../../base/errors.ts";
import type { Credentials } from "../credentials.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Member } from "../member.ts";
import type { CheckedOptions } from "../options.ts";
import { secureContext } from "../tls.ts";
import type { ByteCodec } from "../wire.ts";
import { GrpcMember } from "./grpc-member.ts";

export const bytes: ByteCodec<Buffer> = {
  fromKey: (key) => Buffer.from(key, "latin1"),
  fromText: (text) => Buffer.from(text, "utf8"),
  toKey: (buffer) => buffer.toString("latin1"),
  toText: (buffer) => buffer.toString("utf8"),
};

/** @throws ConfigError for what etcd3 cannot do */
export async function openMembers(
  options: CheckedOptions,
  credentials: Credentials | undefined,
): Promise<Member[]> {
  if (options.tls?.insecureSkipVerify) {
    throw new ConfigError(
      "transport grpc cannot skip the check of the server's certificate: configure its CA instead",
    );
  }
  secureContext(options.tls ?? {}); // gRPC would find out only with the first call
  return options.parsed.map((endpoint) => {
    return new GrpcMember(endpoint.url, () => new Etcd3(clientOptions(endpoint, options)), credentials);
  });
}

let generation = 0;

type Policy = NonNullable<NonNullable<IOptions["faultHandling"]>["global"]>;

/**
 * etcd3's own retries and circuit breakers are turned off: they repeat mutations, and refuse calls to a member that
 * is well again. Failover is ours.
 */
const noop = {
  execute: (work: (context: object) => unknown) => Promise.resolve().then(() => work({})),
} as unknown as Policy;

function clientOptions(endpoint: Endpoint, { tls }: CheckedOptions): IOptions {
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  return {
    hosts: `${endpoint.secure ? "https" : "http"}://${host}:${endpoint.port}`,
    ...(endpoint.secure && tls && credentialsOf(tls)),
    faultHandling: { global: noop, host: () => noop },
    grpcOptions: {
      // gRPC shares connections between clients with equal options; one that replaces another must not inherit its.
      "signalbox.generation": ++generation,
      // Failover asks again much sooner than gRPC's default backoff of 1 s to 2 min would let it.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1000,
      // etcd takes more than a ping every 5 s for an attack.
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 3_000,
      "grpc.max_receive_message_length": -1,
      "grpc.enable_retries": 0,
      ...(tls?.serverName !== undefined && {
        "grpc.ssl_target_name_override": tls.serverName,
        "grpc.default_authority": tls.serverName,
      }),
    },
  };
}

function credentialsOf(tls: NonNullable<CheckedOptions["tls"]>): Pick<IOptions, "credentials"> {
  const { ca, cert, key } = tls;
  if (ca === undefined && cert === undefined) return {};
  const credentials = {
    ...(ca !== undefined && { rootCertificate: Buffer.from(ca) }),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
  // etcd3 demands a root certificate in its types only; without one, gRPC trusts the usual authorities.
  return { credentials: credentials as NonNullable<IOptions["credentials"]> };
}
