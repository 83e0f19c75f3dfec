import { readFileSync } from "node:fs";
import { readPemFile } from "../config/files.ts";
import type { Settings } from "../config/settings.ts";
import { ClusterMemory } from "./cluster/cluster-memory.ts";
import { DEFAULT_TIMEOUTS } from "./failover.ts";
import { parseEndpoint, type StoreOptions, type TlsOptions } from "./options.ts";

/** Builds the options of a store from the settings. @throws ConfigError */
export function buildStoreOptions(values: Settings): StoreOptions {
  const tls = buildTlsOptions(values);
  return {
    endpoints: [...values.endpoints],
    clusterMemory: createClusterMemory(values),
    transport: values.transport,
    ...(values.clusterId !== undefined && { clusterId: BigInt(`0x${values.clusterId}`) }),
    allowPlaintextPassword: values.allowPlaintextPassword,
    ...(values.user !== undefined && { user: values.user }),
    ...(values.password !== undefined && { password: values.password }),
    ...(values.passwordFile !== undefined && { passwordFile: values.passwordFile }),
    // A command with a shorter connect timeout ends earlier by itself; a job that already runs can wait for the login.
    timeouts: { login: Math.max(values.connectTimeout, DEFAULT_TIMEOUTS.login) },
    ...(tls !== undefined && { tls }),
  };
}

/** Creates this user's memory of the cluster that the settings name. */
export function createClusterMemory({ prefix, endpoints }: Settings): ClusterMemory {
  const isTls = endpoints.some((endpoint) => endpoint.startsWith("https:"));
  const urls = endpoints.map((endpoint) => parseEndpoint(endpoint, isTls).url);
  return new ClusterMemory({ prefix, endpoints: urls }, process.env);
}

/** Builds the TLS options from the settings. Returns undefined when no endpoint is https. */
function buildTlsOptions(values: Settings): TlsOptions | undefined {
  if (!values.endpoints.some((endpoint) => endpoint.startsWith("https:"))) return undefined;
  const { cacert, cert, key, serverName, insecureSkipTlsVerify } = values;
  const readDefaultAuthorities = () =>
    insecureSkipTlsVerify ? undefined : readSystemAuthorities(process.env);
  const ca = cacert === undefined ? readDefaultAuthorities() : readPemFile("cacert", cacert);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert: readPemFile("cert", cert) }),
    ...(key !== undefined && { key: readPemFile("key", key) }),
    ...(serverName !== undefined && { serverName }),
    insecureSkipVerify: insecureSkipTlsVerify,
  };
}

/** Files in which systems keep all trusted certificate authorities. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine, Arch
  "/etc/pki/tls/certs/ca-bundle.crt", // Red Hat
  "/etc/ssl/ca-bundle.pem", // SUSE
  "/etc/ssl/cert.pem", // BSD, macOS
];

/**
 * Reads the certificate authorities that this system trusts, as PEM. They include those that an administrator added,
 * which Node's built-in list does not contain. `SSL_CERT_FILE` selects another file, as for etcdctl;
 * `NODE_EXTRA_CA_CERTS` adds to it, as for Node. Only one file is read, because Node itself takes 0.4 s to load all
 * authorities of a system.
 * @returns undefined when there is no such file; Node's built-in authorities then apply
 */
function readSystemAuthorities(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { SSL_CERT_FILE: named = "", NODE_EXTRA_CA_CERTS: extra = "" } = env;
  for (const path of named === "" ? BUNDLES : [named]) {
    const text = readPem(path);
    if (text !== undefined) return [text, readPem(extra) ?? ""].join("\n");
  }
  return undefined;
}

function readPem(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.includes("-----BEGIN CERTIFICATE-----") ? text : undefined;
  } catch {
    return undefined; // other programs ignore an unreadable file too
  }
}
