import { createHash } from "node:crypto";
import { buildPeerAddress, type ClusterPlan, listEndpoints, RUNNER } from "./cluster-plan.ts";

/** Builds the script that makes a host a member of etcd, and configures signalbox on it. It can be run again. */
export function buildHostScript(plan: ClusterPlan, host: string): string {
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
    user: RUNNER,
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
