import { execFileSync } from "node:child_process";
import { isIP } from "node:net";
import { EXIT, SignalboxError } from "../../../base/errors.ts";

const NEW_KEY = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650".split(" ");
const SIGNED = [...NEW_KEY, "-CA", "ca.pem", "-CAkey", "ca-key.pem"];

/**
 * Makes an authority (`ca.pem`, `ca-key.pem`) and one certificate for all members (`etcd.pem`, `etcd-key.pem`).
 * @throws SignalboxError 78 if openssl is missing or too old
 */
export function makeCertificates(folder: string, hosts: readonly string[]): void {
  runOpenssl(folder, [
    ...NEW_KEY,
    "-subj",
    "/CN=signalbox CA",
    "-keyout",
    "ca-key.pem",
    "-out",
    "ca.pem",
    "-addext",
    "keyUsage=critical,keyCertSign",
  ]);
  const names = hosts.map((host) => `${isIP(host) === 0 ? "DNS" : "IP"}:${host}`);
  runOpenssl(folder, [
    ...SIGNED,
    // No common name: etcd refuses its gateway if that has a certificate which could be a user's.
    "-subj",
    "/O=etcd",
    "-keyout",
    "etcd-key.pem",
    "-out",
    "etcd.pem",
    "-addext",
    "basicConstraints=critical,CA:FALSE",
    "-addext",
    "extendedKeyUsage=serverAuth,clientAuth",
    "-addext",
    `subjectAltName=${names.join(",")}`,
  ]);
}

function runOpenssl(cwd: string, args: readonly string[]): void {
  try {
    execFileSync("openssl", ["req", ...args], { cwd, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const what = isMissing
      ? "openssl is not installed: apt-get install openssl"
      : `openssl 3.0 or later is needed: ${(cause as Error).message}`;
    throw new SignalboxError(EXIT.config, `cannot make certificates: ${what}`, { cause });
  }
}
