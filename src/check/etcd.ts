import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { readWithRetries } from "../observe/ports.ts";
import { findNestedPrefix } from "../protocol/nested-prefix.ts";
import { getAnsweringMembers, judgeAlarms, judgeMembers } from "../state/etcd-findings.ts";
import { type ClusterMemoryPort, judgeIdentity } from "./identity.ts";
import { judgeRoleBypass, judgeRunner, probePermissions } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";
import { judgeSchema } from "./schema.ts";

/**
 * Checks whether this host can run: members, versions, permissions of a runner, prefix. Writes nothing to etcd.
 * @param clusterId  the setting
 * @throws StoreError when no member answers at all
 */
export async function checkEtcd(
  ports: CheckPorts,
  clusterId: string | undefined,
  memory?: ClusterMemoryPort,
): Promise<Finding[]> {
  const members = await ports.store.readMemberStatuses(ports.signal);
  const identity = judgeIdentity(getAnsweringMembers(members), clusterId, memory);
  if (identity.some(({ level }) => level === "failure")) return [...judgeMembers(members), ...identity];
  const rights = await probePermissions(ports, "runner");
  const alarms = judgeAlarms(getAnsweringMembers(members)).filter(({ level }) => level !== "ok");
  // Without permission to read the prefix, the check of the prefix would fail. The finding says what to grant.
  const prefix = rights.canRead
    ? [await checkPrefix(ports), await judgeSchema(ports), ...(await judgeRoleBypass(ports))]
    : [];
  return [...judgeMembers(members), ...identity, ...alarms, judgeRunner(ports, rights), ...prefix];
}

/**
 * Reports keys under the prefix that signalbox does not write: another program may share it. Reads only the first
 * 1,000.
 */
async function checkPrefix(ports: CheckPorts): Promise<Finding> {
  const { keys } = ports;
  const about = createFindingBuilder("prefix", `prefix ${keys.prefix}`);
  const range = { ...keys.getFullRange(), limit: 1_000, keysOnly: true };
  const page = await readWithRetries(ports, range, ports.signal);
  const strange = page.kvs.filter(
    ({ key }) => keys.parse(key).kind === "unknown" && findNestedPrefix(keys, key) === undefined,
  );
  if (strange.length === 0) return about.ok(`${page.count} keys`);
  const detail = `${strange.length} keys do not belong to signalbox, such as ${strange[0]?.key}`;
  const remedy = "is another program using this prefix? Choose another one with --prefix";
  return about.warning(detail, remedy);
}
