import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { quotePosixWord, quoteShellWord } from "../../../core/base/shell.ts";
import { quoteText } from "../../../core/base/text.ts";
import { resolveConfig } from "../../../core/config/config.ts";
import { listWrittenCollections } from "../../../site/check/permissions.ts";
import type { CommandExecutor } from "../../frame/command.ts";
import type { SetupEtcdFlags } from "./setup-etcd.ts";

/** A new etcd: its members, and what a host has to know of it. */
interface ClusterPlan {
  /** Names or addresses of the members. */
  hosts: readonly string[];
  /** A text that no other cluster has: etcd computes the cluster's id from it. */
  token: string;
  /** The prefix of signalbox's keys. */
  prefix: string;
  /** PEM texts. */
  certificates: { ca: string; cert: string; key: string };
  /** The password of the user that runs jobs. */
  runnerPassword: string;
}

/** The etcd user that runs jobs. */
const RUNNER_USER = "runner";

/** Returns the addresses of the members for clients. */
function listEndpoints({ hosts }: Pick<ClusterPlan, "hosts">): string[] {
  return hosts.map((host) => `https://${host}:2379`);
}

/** Returns the address of a member for the other members. */
function buildPeerAddress(host: string): string {
  return `https://${host}:2380`;
}

/** What names of hosts consist of. They become parts of scripts and names of files. */
const HOST_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

export const execute: CommandExecutor<SetupEtcdFlags> = async (call, io) => {
  const hosts = call.args;
  requireDistinctHosts(hosts);
  const { prefix } = resolveConfig({ flags: call.settings, env: io.env }).values;
  const folder = call.flags.to ?? "signalbox-etcd";
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
    if (!HOST_NAME.test(host) || host === "users") {
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
    runnerPassword: read(`${RUNNER_USER}.password`).trim(),
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
const SIGNED_KEY_OPTIONS = [...NEW_KEY, "-CA", "ca.pem", "-CAkey", "ca-key.pem"];

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
    ...SIGNED_KEY_OPTIONS,
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
  "signalbox-runner": listWrittenCollections("runner"),
  "signalbox-operator": [""],
  "signalbox-worker": listWrittenCollections("worker"),
};

/** The users, and the role of each. */
const ETCD_USERS = {
  root: "root",
  operator: "signalbox-operator",
  [RUNNER_USER]: "signalbox-runner",
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
  SIGNALBOX_USER=${RUNNER_USER} SIGNALBOX_PASSWORD_FILE=${RUNNER_USER}.password signalbox init
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

/** Builds the script that makes a host a member of etcd, and configures signalbox on it. It can be run again. */
function buildHostScript(plan: ClusterPlan, host: string): string {
  const { ca, cert, key } = plan.certificates;
  return `#!/bin/sh
# Makes ${host} a member of a new etcd, and configures signalbox on it. Run it there, as root. It contains secrets.
set -eu
umask 077 # nobody else can read a file before it has its mode

fail() {
  echo "$1" >&2
  exit 1
}

# put FILE OWNER MODE: writes standard input to a file
put() {
  cat > "$1"
  chown "$2" "$1"
  chmod "$3" "$1"
}

getent passwd etcd > /dev/null || fail "there is no user etcd: apt-get install etcd-server"
if grep -qs '^ETCD_' /etc/default/etcd && ! grep -q '${plan.token}' /etc/default/etcd; then
  fail "/etc/default/etcd has settings of another etcd; if that is not needed, remove them"
fi
install -d -m 755 /etc/etcd /etc/signalbox

put /etc/etcd/ca.pem root 644 <<'END'
${ca.trim()}
END
put /etc/etcd/etcd.pem root 644 <<'END'
${cert.trim()}
END
put /etc/etcd/etcd-key.pem etcd 600 <<'END'
${key.trim()}
END
put /etc/default/etcd root 644 <<'END'
${buildEtcdSettings(plan, host)}
END
put /etc/signalbox/password root 600 <<'END'
${plan.runnerPassword}
END
put /etc/signalbox/config.json root 644 <<'END'
${buildConfiguration(plan)}
END

if [ -d /run/systemd/system ]; then
  systemctl restart --no-block etcd # the start ends when most of the members run
else
  service etcd restart
fi
`;
}

/** Builds the environment of Debian's service. */
function buildEtcdSettings({ hosts, token }: ClusterPlan, host: string): string {
  const peers = hosts.map((one) => `${one}=${buildPeerAddress(one)}`);
  return `ETCD_NAME=${host}
ETCD_DATA_DIR=/var/lib/etcd/signalbox
ETCD_LISTEN_CLIENT_URLS=https://0.0.0.0:2379
ETCD_ADVERTISE_CLIENT_URLS=https://${host}:2379
ETCD_CERT_FILE=/etc/etcd/etcd.pem
ETCD_KEY_FILE=/etc/etcd/etcd-key.pem
ETCD_LISTEN_PEER_URLS=https://0.0.0.0:2380
ETCD_INITIAL_ADVERTISE_PEER_URLS=${buildPeerAddress(host)}
ETCD_PEER_CERT_FILE=/etc/etcd/etcd.pem
ETCD_PEER_KEY_FILE=/etc/etcd/etcd-key.pem
ETCD_PEER_TRUSTED_CA_FILE=/etc/etcd/ca.pem
ETCD_PEER_CLIENT_CERT_AUTH=true
ETCD_INITIAL_CLUSTER=${peers.join(",")}
ETCD_INITIAL_CLUSTER_TOKEN=${token}
ETCD_INITIAL_CLUSTER_STATE=new
ETCD_AUTO_COMPACTION_RETENTION=1h`;
}

/** Builds signalbox's configuration file. */
function buildConfiguration(plan: ClusterPlan): string {
  const configuration = {
    endpoints: listEndpoints(plan),
    clusterId: computeClusterId(plan.hosts.map(buildPeerAddress), plan.token),
    prefix: plan.prefix,
    cacert: "/etc/etcd/ca.pem",
    user: RUNNER_USER,
    passwordFile: "/etc/signalbox/password",
  };
  return JSON.stringify(configuration, null, 2);
}

/**
 * Computes the id that a new etcd will have, as etcd does. The id of a member is a hash of its address for peers and of the
 * cluster's token; that of the cluster is a hash of its members' ids.
 * @param peers  one address for each member
 */
export function computeClusterId(peers: readonly string[], token: string): string {
  const members = peers.map((peer) => hashToId(Buffer.from(peer + token)));
  return hashToId(Buffer.concat(members.sort(Buffer.compare))).toString("hex");
}

/** The first eight bytes of the SHA-1. */
function hashToId(bytes: Buffer): Buffer {
  return createHash("sha1").update(bytes).digest().subarray(0, 8);
}
