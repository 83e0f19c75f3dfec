import type { Finding } from "../base/finding.ts";
import { readPages } from "../observe/read.ts";
import type { Op } from "../protocol/txn.ts";
import { parseDefinition } from "../schedule/definition.ts";
import { isAllowed } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";

/** The first releases that check permissions inside nested transactions. */
const FIXED = "etcd 3.4.42, 3.5.28 or 3.6.9, or a later release";
export const ROLE_BYPASS =
  "this etcd checks no permissions inside nested transactions (GHSA-rfx7-8w68-q57q), so every user with a role can write schedules, which workers run as commands";
export const ROLE_BYPASS_REMEDY = `upgrade to ${FIXED}`;

/**
 * Tests whether etcd lets this user write in a nested transaction what its role does not allow. The transactions can
 * never succeed, so nothing is written.
 * @returns false also if it cannot be told: etcd checks no users, or this user may write everything
 * @throws StoreError for errors other than permissions
 */
export async function canBypassRoles(ports: CheckPorts): Promise<boolean> {
  // A runner must not write the first key, an operator must not write the second.
  for (const key of [ports.keys.schedule("init"), "signalbox-role-bypass"]) {
    const write: Op = { op: "delete", key };
    if (await isAllowed(ports, write)) continue;
    return await isAllowed(ports, { op: "txn", txn: { compare: [], success: [write], failure: [] } });
  }
  return false;
}

/** Reports an etcd whose roles can be bypassed: a failure if a schedule has a command, else a hint. */
export async function judgeRoleBypass(ports: CheckPorts): Promise<Finding[]> {
  if (!(await canBypassRoles(ports))) return [];
  const id = await findCommandSchedule(ports);
  const detail = id === undefined ? ROLE_BYPASS : `${ROLE_BYPASS}; ${id} has a command`;
  const remedy = `${ROLE_BYPASS_REMEDY}; until then, workers refuse commands unless they have --accept-role-bypass`;
  return [
    {
      kind: "role-bypass",
      check: "roles",
      level: id === undefined ? "hint" : "failure",
      detail,
      remedy,
    },
  ];
}

/** Returns the key of a schedule that has a command, if there is one. */
async function findCommandSchedule(ports: CheckPorts): Promise<string | undefined> {
  const { signal } = ports;
  for await (const { kvs } of readPages(ports, ports.keys.schedules(), { signal })) {
    const found = kvs.find(({ value }) => {
      const parsed = parseDefinition(value);
      return "value" in parsed && parsed.value.command !== undefined;
    });
    if (found !== undefined) return found.key;
  }
  return undefined;
}
