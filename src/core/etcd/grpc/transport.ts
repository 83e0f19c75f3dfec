/**
 * The gRPC transport: the raw clients of the npm package etcd3, and gRPC's generic client for the frequent calls. The
 * packages load slowly, so this module is imported only when chosen.
 */

import { rootCertificates } from "node:tls";
import type { ChannelOptions } from "@grpc/grpc-js";
import type { IOptions } from "etcd3";
import { ConfigError } from "../../base/errors.ts";
import type { Member } from "../member.ts";
import type { CheckedOptions, TlsOptions } from "../options.ts";
import { buildSecureContext } from "../tls.ts";
import type { ByteCodec } from "../wire-codec.ts";
import { createGrpcMember } from "./grpc-member.ts";
import { createCodings, createFrequentCalls } from "./messages.ts";

export const bytes: ByteCodec<Buffer> = {
  fromKey: (key) => Buffer.from(key, "latin1"),
  fromText: (text) => Buffer.from(text, "utf8"),
  toKey: (buffer) => buffer.toString("latin1"),
  toText: (buffer) => buffer.toString("utf8"),
};

/**
 * Loads the npm package etcd3 and the packages of gRPC. They are optional dependencies, so an installation may lack them.
 * @throws ConfigError when it cannot be loaded
 */
export async function loadPackages() {
  try {
    const { Etcd3 } = await import("etcd3");
    const { noop } = await import("cockatiel");
    const { default: protobuf } = await import("protobufjs");
    return { Etcd3, noop, grpc: await import("@grpc/grpc-js"), protobuf };
  } catch (cause) {
    const [reason] = String((cause as Error).message).split("\n"); // the next lines name the files that required it
    throw new ConfigError(
      `the transport grpc needs the npm package etcd3, which cannot be loaded (${reason}); ` +
        "install it (npm install etcd3), or set the transport to http",
      { cause },
    );
  }
}

/** @throws ConfigError for options that etcd3 does not support, and if etcd3 is not installed */
export async function openMembers(options: CheckedOptions): Promise<Member[]> {
  if (options.tls?.insecureSkipVerify) {
    throw new ConfigError(
      "transport grpc cannot skip the check of the server's certificate: configure its CA instead",
    );
  }
  buildSecureContext(options.tls ?? {}); // gRPC would report errors only with the first call
  const { Etcd3, grpc, noop, protobuf } = await loadPackages();
  const codings = createCodings(protobuf);
  return options.parsed.map(({ secure, url, host, port }) => {
    const tls = secure ? options.tls : undefined;
    const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const certificates = buildCertificates(tls);
    return createGrpcMember(url, grpc, {
      openEtcd3: () =>
        new Etcd3({
          hosts: `${secure ? "https" : "http"}://${address}`,
          ...(certificates && { credentials: certificates }),
          // Its own retries and circuit breakers repeat mutations, and refuse calls to a member that has recovered.
          faultHandling: { global: noop, host: () => noop },
          grpcOptions: buildChannelOptions(tls),
        }),
      openFrequentCalls: () => {
        const { rootCertificate, privateKey, certChain } = certificates ?? {};
        const credentials = secure
          ? grpc.credentials.createSsl(rootCertificate, privateKey, certChain)
          : grpc.credentials.createInsecure();
        return createFrequentCalls(new grpc.Client(address, credentials, buildChannelOptions(tls)), codings);
      },
    });
  });
}

let generation = 0;

function buildChannelOptions(tls: TlsOptions | undefined): ChannelOptions {
  return {
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
  };
}

/** @returns undefined if gRPC's default authorities apply, without a certificate of this client */
function buildCertificates(tls: TlsOptions | undefined): IOptions["credentials"] {
  const { ca, cert, key } = tls ?? {};
  if (ca === undefined && cert === undefined) return undefined;
  return {
    rootCertificate: Buffer.from(ca ?? rootCertificates.join("\n")),
    ...(cert !== undefined && { certChain: Buffer.from(cert) }),
    ...(key !== undefined && { privateKey: Buffer.from(key) }),
  };
}
