import type { Finding } from "../base/finding.ts";
import { canWriteSchedules, type EtcdRole } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";

/** Whether etcd serves clients without a user. `certificate`: only those with a certificate that it trusts. */
export type AuthenticationMode = "closed" | "open" | "certificate";

/** Checks whether etcd requires authentication. @param mode  undefined: it could not be determined */
export function judgeAuthentication(mode: AuthenticationMode | undefined): Finding[] {
  const about = { kind: "authentication", check: "authentication" };
  if (mode === undefined) return [];
  if (mode === "closed")
    return [{ ...about, level: "ok", detail: "etcd requires authentication, and checks roles" }];
  const who =
    mode === "open"
      ? "etcd has no authentication: everybody who can reach it"
      : "etcd has no users: everybody with a certificate that it trusts";
  return [
    {
      ...about,
      level: "warning",
      detail: `${who} may end any run, delete any ticket, and write schedules, which workers run as commands`,
      remedy:
        "create users and roles, then run etcdctl auth enable: docs/etcd.md has every step; if this is intended: --accept authentication",
    },
  ];
}

/** Checks whether this user can make workers run commands. Call it only when etcd checks roles. */
export async function judgeSchedulePermission(ports: CheckPorts, role: EtcdRole): Promise<Finding[]> {
  if (!(await canWriteSchedules(ports))) return [];
  const detail = `this user may write ${ports.keys.prefix}schedules/: it can make every worker run any command, as the user that the worker runs as`;
  return [
    {
      kind: "role",
      check: "role",
      level: role === "operator" ? "ok" : "hint",
      detail,
      remedy: "hosts that only run jobs need no more than the role signalbox-runner of docs/etcd.md",
    },
  ];
}
