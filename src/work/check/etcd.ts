import type { Finding } from "../../base/finding.ts";
import { prefixBelow } from "../../protocol/below.ts";
import { prefixRange } from "../../protocol/txn.ts";
import { patiently } from "../observe/ports.ts";
import { judgeAlarms } from "./alarms.ts";
import { answersOf, judgeMembers } from "./members.ts";
import { judgeRunner, rightsOf } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";

/**
 * Whether this host can run: members, versions, permissions of a runner, prefix. Writes nothing.
 * @throws StoreError when no member answers at all
 */
export async function checkEtcd(ports: CheckPorts): Promise<Finding[]> {
  const members = await ports.store.status(ports.signal);
  const rights = await rightsOf(ports, "runner");
  const alarms = judgeAlarms(answersOf(members)).filter(({ level }) => level !== "ok");
  // Who may not read the prefix cannot look into it either; the finding says what to grant, an error would not.
  const prefix = rights.canRead ? [await checkPrefix(ports)] : [];
  return [...judgeMembers(members), ...alarms, judgeRunner(ports, rights), ...prefix];
}

/** Keys under the prefix that are none of ours: two programs may be sharing it. Looks at the first only. */
async function checkPrefix(ports: CheckPorts): Promise<Finding> {
  const { keys } = ports;
  const about = { kind: "prefix", check: `prefix ${keys.prefix}` };
  const page = await patiently(
    ports,
    (signal) => ports.store.range({ ...prefixRange(keys.prefix), limit: 1_000, keysOnly: true }, signal),
    ports.signal,
  );
  const strange = page.kvs.filter(
    ({ key }) => keys.parse(key).kind === "unknown" && prefixBelow(keys, key) === undefined,
  );
  if (strange.length === 0) return { ...about, level: "ok", detail: `${page.count} keys` };
  const detail = `${strange.length} keys are none of ours, such as ${strange[0]?.key}`;
  const remedy = "is another program using this prefix? Choose another one with --prefix";
  return { ...about, level: "warning", detail, remedy };
}
