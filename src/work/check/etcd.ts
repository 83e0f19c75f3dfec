import { type MemberStatus, StoreError } from "../../etcd/store.ts";
import type { Op } from "../../protocol/txn.ts";
import { prefixRange } from "../../protocol/txn.ts";
import { type ObserverPorts, patiently } from "../observe/ports.ts";

/** One thing that was checked, and how it stands. */
export interface Finding {
  check: string;
  level: "ok" | "warning" | "failure";
  detail: string;
  remedy?: string;
}

/** Oldest version that speaks all we need. */
const OLDEST = [3, 4, 0] as const;
/** First versions, by release line, that never acknowledge a stale renewal. */
const SOUND: Record<string, number> = { "3.4": 42, "3.5": 28, "3.6": 9 };

/** Checks members, versions, permissions and prefix. Writes nothing. @throws StoreError when no member answers at all */
export async function checkEtcd(ports: ObserverPorts): Promise<Finding[]> {
  const members = await ports.store.status();
  const permissions = await checkPermissions(ports);
  // Who may not read the prefix cannot look into it either; the finding says what to grant, an error would not.
  const isAllowed = permissions.every(({ level }) => level === "ok");
  return [...members.flatMap(checkMember), ...permissions, ...(isAllowed ? await checkPrefix(ports) : [])];
}

function checkMember(member: MemberStatus): Finding[] {
  const check = `member ${member.endpoint}`;
  if (!member.ok) {
    return [
      {
        check,
        level: "warning",
        detail: member.error.message,
        remedy: "start it, or take it out of endpoints",
      },
    ];
  }
  const detail = `etcd ${member.version}, ${member.millis.toFixed(0)} ms${member.leaderId === 0n ? ", no leader" : ""}`;
  const alarms = member.errors.map(
    (error): Finding => ({ check, level: "failure", detail: error, remedy: "see: etcdctl alarm list" }),
  );
  return [{ check, detail, ...judgeVersion(member.version) }, ...alarms];
}

function judgeVersion(version: string): Pick<Finding, "level" | "remedy"> {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return { level: "failure", remedy: "etcd 3.4 or later is needed" };
  }
  const floor = SOUND[`${major}.${minor}`];
  if (floor === undefined || patch >= floor) return { level: "ok" };
  const remedy = `upgrade to ${major}.${minor}.${floor} or later: older servers can acknowledge a stale renewal (runs guard against it)`;
  return { level: "warning", remedy };
}

/** A transaction that can never succeed: etcd checks the permission for its writes all the same. */
async function checkPermissions(ports: ObserverPorts): Promise<Finding[]> {
  const { keys } = ports;
  const written = [
    keys.lock("init", "000000000000"),
    keys.resource("init", "000000000000"),
    keys.history("init"),
  ];
  const success = written.map((key): Op => ({ op: "put", key, value: "" }));
  const impossible = { key: keys.prefix, target: "mod", is: "less", value: 0n } as const;
  const reads: Op[] = [{ op: "range", ...keys.everything(), limit: 1, keysOnly: true }];
  const check = "permissions";
  try {
    await patiently(ports, (signal) =>
      ports.store.txn({ compare: [impossible], success, failure: reads }, signal),
    );
    return [{ check, level: "ok", detail: `tickets and history can be written, ${keys.prefix} can be read` }];
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
    const remedy = `grant the role: read on ${keys.prefix}, readwrite on ${keys.prefix}locks/, ${keys.prefix}resources/ and ${keys.prefix}history/ (each as a prefix)`;
    return [{ check, level: "failure", detail: error.message, remedy }];
  }
}

/** Keys under the prefix that are none of ours: two programs may be sharing it. */
async function checkPrefix(ports: ObserverPorts): Promise<Finding[]> {
  const { keys } = ports;
  const check = `prefix ${keys.prefix}`;
  const page = await patiently(ports, (signal) =>
    ports.store.range({ ...prefixRange(keys.prefix), limit: 1_000, keysOnly: true }, signal),
  );
  const strange = page.kvs.filter(({ key }) => keys.parse(key).kind === "unknown");
  if (strange.length === 0) return [{ check, level: "ok", detail: `${page.count} keys` }];
  const [first] = strange;
  const remedy = "is another program using this prefix? Choose another one with --prefix";
  return [
    {
      check,
      level: "warning",
      detail: `${strange.length} keys are none of ours, such as ${first?.key}`,
      remedy,
    },
  ];
}
