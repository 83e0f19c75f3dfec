import { quotePosixWord } from "../../../base/shell.ts";
import { type ClusterPlan, listEndpoints, RUNNER } from "./cluster-plan.ts";

/** The roles of docs/etcd.md, and what each may write (`""`: everything). All may read everything. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  "signalbox-runner": ["locks/", "resources/", "history/", "hosts/", "output/"],
  "signalbox-operator": [""],
  "signalbox-worker": ["due/", "running/", "outcomes/", "workers/", "resources/", "hosts/", "output/"],
};

/** The users, and the role of each. */
export const ETCD_USERS = {
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
