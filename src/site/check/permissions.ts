import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import { quoteText } from "../../core/base/text.ts";
import { MOST_OPERATIONS } from "../../core/etcd/combined-store.ts";
import { StoreError } from "../../core/etcd/store.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import type { Compare, Op } from "../../core/protocol/txn.ts";
import { parseDefinition } from "../../schedule/definition.ts";
import { commitWithRetries } from "../observe/ports.ts";
import { readPages } from "../observe/read.ts";
import type { CheckPorts } from "./ports.ts";

/** The roles of a user: `runner` starts runs, `worker` runs schedules, `operator` also resets, drains and configures. */
export type EtcdRole = "runner" | "worker" | "operator";

interface WrittenCollection {
  collection: string;
  /** What does not work without it; undefined if nothing works. */
  without?: string;
  /** No other role but that of operators writes it. */
  isOwn?: boolean;
  buildKey(keys: Keys): string;
}

const WITHOUT_HOSTS = "this host is missing in the list of hosts, and no agent can serve its runs";
const WITHOUT_OUTPUT = "other hosts see only the end of what its runs write";

const COLLECTIONS: Record<EtcdRole, readonly WrittenCollection[]> = {
  runner: [
    { collection: "locks/", buildKey: (keys) => keys.lock("init", "000000000000") },
    { collection: "resources/", buildKey: (keys) => keys.resource("init", "000000000000") },
    { collection: "history/", buildKey: (keys) => keys.history("init") },
    { collection: "hosts/", without: WITHOUT_HOSTS, buildKey: (keys) => keys.host("init") },
    { collection: "hosts/", without: WITHOUT_HOSTS, buildKey: (keys) => keys.agentSession("init", 1n) },
    { collection: "output/", without: WITHOUT_OUTPUT, buildKey: (keys) => keys.outputChunk("init") },
  ],
  worker: [
    { collection: "due/", isOwn: true, buildKey: (keys) => keys.due("init", undefined) },
    { collection: "running/", isOwn: true, buildKey: (keys) => keys.running("init") },
    { collection: "outcomes/", isOwn: true, buildKey: (keys) => keys.outcomes("init", undefined) },
    {
      collection: "checkpoints/",
      isOwn: true,
      without: "tasks save no checkpoints, and start again from the beginning",
      buildKey: (keys) => keys.checkpoint("init", undefined, 0),
    },
    {
      collection: "history/",
      without: "old histories of locks are not deleted",
      buildKey: (keys) => keys.history("init"),
    },
    { collection: "workers/", isOwn: true, buildKey: (keys) => keys.worker("000000000000") },
    {
      collection: "resources/",
      without: "tasks with leases do not start",
      buildKey: (keys) => keys.resource("init", "000000000000"),
    },
    { collection: "hosts/", without: WITHOUT_HOSTS, buildKey: (keys) => keys.host("init") },
    { collection: "output/", without: WITHOUT_OUTPUT, buildKey: (keys) => keys.outputChunk("init") },
  ],
  operator: [
    { collection: "config/", buildKey: (keys) => keys.group("init") },
    { collection: "drains/", buildKey: (keys) => keys.drain("lock", "init") },
    { collection: "audit/", buildKey: (keys) => keys.audit("init") },
  ],
};

/** Lists the collections that a role of docs/etcd.md writes. */
export function listWrittenCollections(role: EtcdRole): string[] {
  return [...new Set(COLLECTIONS[role].map(({ collection }) => collection))];
}

/** The current permissions of a role in etcd. */
interface RolePermissions {
  canRead: boolean;
  /** Collections that the role should be able to write, but cannot. */
  missing: readonly Omit<WrittenCollection, "buildKey">[];
}

/** Probes the permission for each collection. Writes nothing. @throws StoreError for errors other than permissions */
export async function probePermissions(ports: CheckPorts, role: EtcdRole): Promise<RolePermissions> {
  const { keys } = ports;
  const canRead = await isAllowed(ports, { op: "range", ...keys.getFullRange(), limit: 1, keysOnly: true });
  const asked = COLLECTIONS[role].map(async (room) => {
    const key = room.buildKey(keys);
    return (await isAllowed(ports, { op: "delete", key }, key)) ? [] : [room];
  });
  return { canRead, missing: (await Promise.all(asked)).flat() };
}

/**
 * Tests whether etcd lets this user carry out an operation, with a transaction that can never succeed: etcd still checks the
 * permissions of its operations. Use a delete, because etcd refuses a put when the database is full.
 * @param compared  a key that the user can read if the operation is allowed
 * @throws StoreError for errors other than permissions
 */
async function isAllowed(ports: CheckPorts, op: Op, compared = ports.keys.prefix): Promise<boolean> {
  const txn = { compare: [buildImpossible(compared)], success: [op], failure: [] };
  try {
    await commitWithRetries(ports, txn, ports.signal);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.kind === "permission") return false;
    throw error;
  }
}

/** Reports whether etcd accepts transactions as large as those of signalbox. Writes nothing. @throws StoreError */
export async function judgeTransactions(ports: CheckPorts): Promise<Finding> {
  const about = createFindingBuilder("transactions");
  const compare = Array.from({ length: MOST_OPERATIONS }, () => buildImpossible(ports.keys.prefix));
  try {
    await commitWithRetries(ports, { compare, success: [], failure: [] }, ports.signal);
    return about.ok(`etcd accepts ${MOST_OPERATIONS} operations in one`);
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== "unusable") throw error;
    const remedy = `start every member with --max-txn-ops=${MOST_OPERATIONS} or more; ${MOST_OPERATIONS} is etcd's default`;
    return about.failure(`etcd accepts fewer than ${MOST_OPERATIONS} operations in one`, remedy);
  }
}

/** Builds a guard that never holds. */
function buildImpossible(key: string): Compare {
  return { key, target: "mod", is: "less", value: 0n };
}

function describeLack(prefix: string, { canRead, missing }: RolePermissions) {
  const rooms = [...new Set(missing.map(({ collection }) => prefix + collection))].join(", ");
  const [faults, grants]: [string[], string[]] = [[], []];
  if (!canRead) {
    faults.push(`${prefix} cannot be read`);
    grants.push(`read on ${prefix}`);
  }
  if (rooms !== "") {
    faults.push(`${rooms} cannot be written`);
    grants.push(`readwrite on ${rooms}`);
  }
  return { faults: faults.join("; "), grants: `${grants.join(", ")} (each as a prefix)` };
}

/** Reports the permissions of this user as a runner. @param isWanted  whether the user is meant to start runs */
export function judgeRunner(
  { keys: { prefix } }: CheckPorts,
  { canRead, missing }: RolePermissions,
  isWanted = true,
): Finding {
  const about = createFindingBuilder("permissions");
  if (canRead && missing.length === 0) {
    const detail = `runs: tickets, history, hosts and output can be written, ${prefix} can be read`;
    return about.ok(detail);
  }
  const { faults, grants } = describeLack(prefix, { canRead, missing });
  if (canRead && !isWanted) return about.ok(`runs: ${faults}; enough for a host that only runs schedules`);
  const isVital = !canRead || missing.some(({ without }) => without === undefined);
  const remedy = `grant the role: ${grants}, which the role signalbox-runner of docs/etcd.md has`;
  const lost = [...new Set(missing.map(({ without }) => without))].join(", and ");
  const detail = `runs: ${faults}${isVital ? "" : `, so ${lost}; runs work`}`;
  return about[isVital ? "failure" : "warning"](detail, remedy);
}

/**
 * Reports the permissions of this user as a worker, if it is meant to be one, or has some of them only.
 * @param isWanted  whether the user is meant to be a worker
 */
export function judgeWorker(
  { keys: { prefix } }: CheckPorts,
  { canRead, missing }: RolePermissions,
  isWanted: boolean,
): Finding[] {
  const about = createFindingBuilder("permissions");
  if (canRead && missing.length === 0)
    return isWanted ? [about.ok("workers: all that a worker writes can be written")] : [];
  const countOwn = (list: RolePermissions["missing"]) => list.filter(({ isOwn }) => isOwn).length;
  if (!isWanted && (!canRead || countOwn(missing) === countOwn(COLLECTIONS.worker))) return [];
  const { faults, grants } = describeLack(prefix, { canRead, missing });
  const isVital = !canRead || missing.some(({ without }) => without === undefined);
  const lost = isVital ? "schedules do not run" : missing.map(({ without }) => without).join(", and ");
  const remedy = `grant the role ${grants}; users.sh of signalbox setup etcd has the whole role signalbox-worker`;
  return [about[isVital && isWanted ? "failure" : "warning"](`workers: ${faults}, so ${lost}`, remedy)];
}

/** Reports the permissions of this user as an operator. @param isWanted  whether the user is meant to be an operator */
export function judgeOperator(
  { keys: { prefix } }: CheckPorts,
  { missing }: RolePermissions,
  isWanted: boolean,
): Finding {
  const about = createFindingBuilder("permissions");
  if (missing.length === 0) return about.ok("operators: configuration, drains and audit can be written");
  const rooms = missing.map(({ collection }) => prefix + collection).join(", ");
  const detail = `operators: ${rooms} cannot be written, so this user cannot drain, reset or configure`;
  const remedy = `grant readwrite on ${rooms} (each as a prefix), which the role signalbox-operator of docs/etcd.md has`;
  return isWanted
    ? about.failure(detail, remedy)
    : about.ok(`${detail}; enough for a host that only runs jobs`);
}

/** Whether etcd serves clients without a user. `certificate`: only those with a certificate that it trusts. */
export type AuthenticationMode = "closed" | "open" | "certificate";

/**
 * Checks whether etcd requires authentication.
 * @param mode  undefined: it could not be determined
 * @param user  the user that this host is configured with: then etcd is meant to have users
 * @param command  the key of a schedule with a command, if there is one: then everybody can run commands on the workers' hosts
 */
export function judgeAuthentication(
  mode: AuthenticationMode | undefined,
  user: string | undefined,
  command?: string,
): Finding[] {
  const about = createFindingBuilder("authentication");
  if (mode === undefined) return [];
  if (mode === "closed") return [about.ok("etcd requires authentication, and checks roles")];
  const risk = "may end any run, delete any ticket, and write schedules, which workers run as commands";
  if (mode === "open" && user !== undefined)
    return [
      about.failure(
        `this host has the user ${quoteText(user)}, but etcd has no authentication: everybody who can reach it ${risk}`,
        "if users.sh of signalbox setup etcd has failed, run it again; otherwise run etcdctl auth enable, or remove the settings user and passwordFile",
      ),
    ];
  const intended = "if this is intended: doctor --accept authentication";
  if (mode === "open" && command !== undefined)
    return [
      {
        ...about.failure(
          `etcd has no authentication: everybody who can reach it ${risk}; ${command} has a command`,
          `run users.sh of signalbox setup etcd, or the steps of docs/etcd.md; ${intended}`,
        ),
        canBeIntended: true,
      },
    ];
  const who =
    mode === "open"
      ? "etcd has no authentication: everybody who can reach it"
      : "etcd has no users: everybody with a certificate that it trusts";
  return [
    about.warning(
      `${who} ${risk}`,
      `create users and roles, then run etcdctl auth enable: users.sh of signalbox setup etcd does it, docs/etcd.md has every step; ${intended}`,
    ),
  ];
}

/** Checks whether this user can make workers run commands. Call it only when etcd checks roles. */
export async function judgeSchedulePermission(ports: CheckPorts, role: EtcdRole): Promise<Finding[]> {
  const key = ports.keys.schedule("init");
  if (!(await isAllowed(ports, { op: "delete", key }, key))) return [];
  const detail = `this user may write ${ports.keys.prefix}schedules/: it can make every worker run any command, as the user that the worker runs as`;
  const remedy = "hosts that only run jobs need no more than the role signalbox-runner of docs/etcd.md";
  return [createFindingBuilder("role")[role === "operator" ? "ok" : "hint"](detail, remedy)];
}

/** The first releases that check permissions inside nested transactions. */
const FIXED_RELEASES = "etcd 3.4.42, 3.5.28 or 3.6.9, or a later release";
export const ROLE_BYPASS =
  "this etcd checks no permissions inside nested transactions (GHSA-rfx7-8w68-q57q), so every user with a role can write schedules, which workers run as commands";
export const ROLE_BYPASS_REMEDY = `upgrade to ${FIXED_RELEASES}`;

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
  const about = createFindingBuilder("role-bypass", "roles");
  return [about[id === undefined ? "hint" : "failure"](detail, remedy)];
}

/** Returns the key of a schedule that has a command, if there is one. */
export async function findCommandSchedule(ports: CheckPorts): Promise<string | undefined> {
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
