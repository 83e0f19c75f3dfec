import { readFileSync } from "node:fs";

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
export function readSystemAuthorities(env: Readonly<Record<string, string | undefined>>): string | undefined {
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
