import { createHash } from "node:crypto";
import { quotePosixWord } from "../../../core/base/shell.ts";
import { listWrittenCollections } from "../../../site/check/permissions.ts";

/** A new etcd: its members, and what a host has to know of it. */
export interface ClusterPlan {
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
export const RUNNER_USER = "runner";

/** The roles of docs/etcd.md, and what each may write (`""`: everything). All may read everything. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "signalbox-runner": listWrittenCollections("runner"),
  "signalbox-operator": [""],
  "signalbox-worker": listWrittenCollections("worker"),
  "signalbox-reader": [],
};

/** The users, and the role of each. */
export const ETCD_USERS = {
  root: "root",
  operator: "signalbox-operator",
  [RUNNER_USER]: "signalbox-runner",
  reader: "signalbox-reader",
} as const;

/** Returns the addresses of the members for clients. */
function listEndpoints({ hosts }: Pick<ClusterPlan, "hosts">): string[] {
  return hosts.map((host) => `https://${host}:2379`);
}

/** Returns the address of a member for the other members. */
function buildPeerAddress(host: string): string {
  return `https://${host}:2380`;
}

const FAIL_FUNCTION = `fail() {
  echo "$1" >&2
  exit 1
}`;

/** Builds the script that does all steps, over ssh. An argument is a Debian package, which it installs first. */
export function buildSetupScript({ hosts }: Pick<ClusterPlan, "hosts">): string {
  return `#!/bin/sh
# Sets up etcd on all hosts, over ssh as root. It can be run again: each step keeps what is there. It ends with 0 only if
# etcd requires authentication and this host can run jobs.
#
#   sh setup.sh [PACKAGE]     PACKAGE: the Debian package of signalbox, to install it and what it needs first
set -eu
cd "$(dirname "$0")"
hosts="${hosts.join(" ")}"
options="-o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=6"

${FAIL_FUNCTION}

if [ $# -gt 0 ]; then
  version=$(dpkg-deb --field "$1" Version)
  packages="cron etcd-server etcd-client openssl signalbox"
  query="dpkg-query --show --showformat '\\\${db:Status-Status} \\\${Package} \\\${Version}\\n' $packages"
  for host in $hosts; do
    installed=$(ssh $options "$host" "$query" < /dev/null 2> /dev/null | grep '^installed ' || true)
    if [ "$(echo "$installed" | wc -l)" = 5 ] && echo "$installed" | grep -qxF "installed signalbox $version"; then
      echo "$host: signalbox $version and etcd are installed"
      continue
    fi
    echo "$host: installs signalbox $version and etcd"
    scp -q $options "$1" "$host:/tmp/signalbox-$version.deb" || fail "$host: cannot copy the package"
    ssh $options "$host" "dpkg --configure -a &&
      DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq -o DPkg::Lock::Timeout=120 cron etcd-server etcd-client openssl /tmp/signalbox-$version.deb &&
      rm -f /tmp/signalbox-$version.deb" < /dev/null || fail "$host: cannot install; is apt-get update needed there?"
  done
fi

for host in $hosts; do
  ssh $options "$host" sh < "$host.sh" || fail "$host: is no member yet; run this again when that is mended"
done
sh users.sh
`;
}

/** Builds the script that makes roles and users, and turns authentication on. The passwords are in its folder. */
export function buildUsersScript({ hosts, prefix }: Pick<ClusterPlan, "hosts" | "prefix">): string {
  const users = Object.entries(ETCD_USERS);
  return `#!/bin/sh
# Makes roles and users in the new etcd, and turns authentication on, when all members have been started. It can be run
# again: it keeps what is there. It ends with 0 only if etcd requires authentication and a runner can use it.
set -eu
cd "$(dirname "$0")"
export ETCDCTL_API=3 ETCDCTL_CACERT=ca.pem ETCDCTL_COMMAND_TIMEOUT=15s ETCDCTL_DIAL_TIMEOUT=10s
export ETCDCTL_ENDPOINTS=${listEndpoints({ hosts }).join(",")}

${FAIL_FUNCTION}

# call WHAT COMMAND...: repeats a command that etcd did not answer in time. It may have been done: then it exists
call() {
  what=$1
  shift
  deadline=$(($(date +%s) + 120))
  until problem=$("$@" 2>&1); do
    case $problem in
      *"already exists"* | *"already enabled"*) echo "$what: is there" && return ;;
      *"user name is empty"*) log_in && echo "$what: etcd asks for a user by now" ;;
      *deadline* | *"timed out"* | *leader* | *refused* | *navailable* | *EOF* | *"too many requests"*) sleep 1 ;;
      *) fail "$what: $problem" ;;
    esac
    [ "$(date +%s)" -lt $deadline ] || fail "$what: $problem"
  done
  echo "$what: done"
}

# Prints "open" or "closed": whether etcd answers without a user. Fails if it does not say.
read_authentication() {
  if problem=$(ETCDCTL_USER= etcdctl get signalbox-setup 2>&1); then
    echo open
  else
    case $problem in *"user name is empty"*) echo closed ;; *) echo "waits for etcd: $problem" >&2 && return 1 ;; esac
  fi
}

log_in() {
  ETCDCTL_USER="root:$(cat root.password)"
  export ETCDCTL_USER
}

# grant WHAT COMMAND...: as call, without a word if it succeeds
grant() {
  call "$@" > /dev/null
}

add_user() {
  etcdctl user add "$1" --interactive=false < "$1.password"
}

deadline=$(($(date +%s) + 120))
until authentication=$(read_authentication); do
  [ "$(date +%s)" -lt $deadline ] || fail "etcd does not answer"
  sleep 1
done
[ $authentication = open ] || log_in
call "all members" etcdctl endpoint health

${Object.keys(ROLES)
  .flatMap((role) => listRoleCommands(role, prefix))
  .join("\n")}

for user in ${users.map(([user]) => user).join(" ")}; do
  call "user $user" add_user "$user"
done
${users.map(([user, role]) => `grant "role of ${user}" etcdctl user grant-role ${user} ${role}`).join("\n")}
[ $authentication = closed ] || call "authentication" etcdctl auth enable
[ "$(read_authentication)" = closed ] || fail "authentication: it is off, and everybody who can reach etcd may do everything"

# Can a runner use this etcd, and does etcd enforce the roles?
SIGNALBOX_ENDPOINTS=$ETCDCTL_ENDPOINTS SIGNALBOX_CACERT=ca.pem SIGNALBOX_PREFIX=${quotePosixWord(prefix)} \\
  SIGNALBOX_USER=${RUNNER_USER} SIGNALBOX_PASSWORD_FILE=${RUNNER_USER}.password signalbox init
`;
}

function listRoleCommands(role: string, prefix: string): string[] {
  const collections = ROLES[role] ?? [];
  const buildGrant = (kind: string, key: string) =>
    `grant "role ${role}" etcdctl role grant-permission ${role} --prefix=true ${kind} ${quotePosixWord(key)}`;
  return [
    `call "role ${role}" etcdctl role add ${role}`,
    ...(collections.includes("") ? [] : [buildGrant("read", prefix)]),
    ...collections.map((collection) => buildGrant("readwrite", prefix + collection)),
  ];
}

/** Builds the script that makes a host a member of etcd, and configures signalbox on it. It can be run again. */
export function buildHostScript(plan: ClusterPlan, host: string): string {
  const { ca, cert, key } = plan.certificates;
  return `#!/bin/sh
# Makes ${host} a member of a new etcd, and configures signalbox on it. Run it there, as root. It contains secrets.
# It can be run again: etcd is restarted only if a file changes, or if it does not run as this member.
set -eu
umask 077 # nobody else can read a file before it has its mode
changed=

${FAIL_FUNCTION}

# put FILE OWNER MODE: writes standard input to a file, whole or not at all
put() {
  cat > "$1.new"
  chown "$2" "$1.new"
  chmod "$3" "$1.new"
  if cmp -s "$1.new" "$1"; then
    rm "$1.new"
  else
    mv "$1.new" "$1"
    changed=yes
  fi
}

# Whether a process of etcd has the settings below.
is_member() {
  for pid in $(pidof etcd); do
    if tr '\\0' '\\n' < "/proc/$pid/environ" | grep -qxF 'ETCD_INITIAL_CLUSTER_TOKEN=${plan.token}'; then return 0; fi
  done
  return 1
}

getent passwd etcd > /dev/null || fail "${host}: there is no user etcd: apt-get install etcd-server"
if grep -qs '^ETCD_' /etc/default/etcd && ! grep -q '${plan.token}' /etc/default/etcd; then
  fail "${host}: /etc/default/etcd has settings of another etcd; if that is not needed, remove them"
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

if [ -z "$changed" ] && is_member; then
  echo "${host}: is a member, nothing has changed"
  exit
fi
if [ -d /run/systemd/system ]; then
  systemctl restart --no-block etcd # the start ends when most of the members run
else
  service etcd restart
fi
echo "${host}: etcd is started"
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
