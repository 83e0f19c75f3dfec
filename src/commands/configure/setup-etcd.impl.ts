import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quotePosixWord, quoteShellWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";
import { resolveConfig } from "../../config/config.ts";
import { getTextFlag } from "../command-line/flags.ts";
import type { CommandExecutor } from "../spec.ts";
import { type ClusterPlan, listEndpoints, RUNNER } from "./setup/cluster-plan.ts";
import { buildHostScript } from "./setup/host-script.ts";

/** What names of hosts consist of. They become parts of scripts and names of files. */
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

export const execute: CommandExecutor = async (call, io) => {
  const hosts = call.args;
  requireDistinctHosts(hosts);
  const { prefix } = resolveConfig({ flags: call.settings, env: io.env }).values;
  const folder = getTextFlag(call, "to") ?? "signalbox-etcd";
  makeFolder(folder);
  try {
    writeFiles(folder, hosts, prefix);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  if (hosts.length % 2 === 0)
    io.writeMessage(`note: ${hosts.length} members survive no more losses than ${hosts.length - 1} do`);
  io.writeOutput(describeSteps(folder, hosts));
  return EXIT.ok;
};

/** @throws UsageError */
function requireDistinctHosts(hosts: readonly string[]): void {
  for (const [index, host] of hosts.entries()) {
    if (!HOST.test(host) || host === "users") {
      const what = "a name of letters, digits, dots and dashes, or an IPv4 address, and not users";
      throw new UsageError(`HOST must be ${what}; got ${quoteText(host)}`);
    }
    if (hosts.indexOf(host) !== index) throw new UsageError(`${quoteText(host)} is given twice`);
  }
}

/** @throws SignalboxError 74 if it exists or cannot be made */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const what = isThere ? "it exists, and its keys may be in use; see --to" : (cause as Error).message;
    throw new SignalboxError(EXIT.io, `cannot make the folder ${quoteText(folder)}: ${what}`, { cause });
  }
}

function writeFiles(folder: string, hosts: readonly string[], prefix: string): void {
  makeCertificates(folder, hosts);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  for (const user of Object.keys(ETCD_USERS))
    write(`${user}.password`, `${randomBytes(24).toString("hex")}\n`);
  const plan = {
    hosts,
    prefix,
    token: `signalbox-${randomBytes(8).toString("hex")}`,
    certificates: { ca: read("ca.pem"), cert: read("etcd.pem"), key: read("etcd-key.pem") },
    runnerPassword: read(`${RUNNER}.password`).trim(),
  };
  for (const host of hosts) write(`${host}.sh`, buildHostScript(plan, host));
  write("users.sh", buildUsersScript(plan));
}

function describeSteps(folder: string, hosts: readonly string[]): string {
  const word = quoteShellWord(folder);
  const steps = [...hosts.map((host) => `ssh ${host} sh < ${word}/${host}.sh`), `sh ${word}/users.sh`];
  return `${word} has all that a new etcd needs, with secrets. As root:\n${steps.map((step) => `  ${step}\n`).join("")}`;
}

const NEW_KEY = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650".split(" ");
const SIGNED = [...NEW_KEY, "-CA", "ca.pem", "-CAkey", "ca-key.pem"];

/**
 * Makes an authority (`ca.pem`, `ca-key.pem`) and one certificate for all members (`etcd.pem`, `etcd-key.pem`).
 * @throws SignalboxError 78 if openssl is missing or too old
 */
function makeCertificates(folder: string, hosts: readonly string[]): void {
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

/** The roles of docs/etcd.md, and what each may write (`""`: everything). All may read everything. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "signalbox-runner": ["locks/", "resources/", "history/", "hosts/", "output/"],
  "signalbox-operator": [""],
  "signalbox-worker": ["due/", "running/", "outcomes/", "workers/", "resources/", "hosts/", "output/"],
};

/** The users, and the role of each. */
const ETCD_USERS = {
  root: "root",
  operator: "signalbox-operator",
  [RUNNER]: "signalbox-runner",
} as const;

/** Builds the script that makes roles and users, and turns authentication on. The passwords are in its folder. */
export function buildUsersScript({ hosts, prefix }: Pick<ClusterPlan, "hosts" | "prefix">): string {
  const users = Object.entries(ETCD_USERS);
  return `#!/bin/sh
# Makes roles and users in the new etcd, and turns authentication on. Run it once, when all members have been started.
set -eu
cd "$(dirname "$0")"
export ETCDCTL_API=3 ETCDCTL_CACERT=ca.pem
export ETCDCTL_ENDPOINTS=${listEndpoints({ hosts }).join(",")}

tries=60
until problem=$(etcdctl endpoint health 2>&1); do
  tries=$((tries - 1))
  if [ $tries = 0 ]; then
    echo "not all members of etcd answer: $problem" >&2
    exit 1
  fi
  sleep 1
done

${Object.keys(ROLES)
  .flatMap((role) => listRoleCommands(role, prefix))
  .join("\n")}

for user in ${users.map(([user]) => user).join(" ")}; do
  etcdctl user add $user --interactive=false < $user.password
done
${users.map(([user, role]) => `etcdctl user grant-role ${user} ${role}`).join("\n")}
etcdctl auth enable

# Can a runner use this etcd, and does etcd enforce the roles?
SIGNALBOX_ENDPOINTS=$ETCDCTL_ENDPOINTS SIGNALBOX_CACERT=ca.pem SIGNALBOX_PREFIX=${quotePosixWord(prefix)} \\
  SIGNALBOX_USER=${RUNNER} SIGNALBOX_PASSWORD_FILE=${RUNNER}.password signalbox init
`;
}

function listRoleCommands(role: string, prefix: string): string[] {
  const collections = ROLES[role] ?? [];
  const buildGrant = (kind: string, key: string) =>
    `etcdctl role grant-permission ${role} --prefix=true ${kind} ${quotePosixWord(key)}`;
  return [
    `etcdctl role add ${role}`,
    ...(collections.includes("") ? [] : [buildGrant("read", prefix)]),
    ...collections.map((collection) => buildGrant("readwrite", prefix + collection)),
  ];
}
