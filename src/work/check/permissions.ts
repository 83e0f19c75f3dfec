import type { Finding } from "../../base/finding.ts";
import { StoreError } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Op } from "../../protocol/txn.ts";
import { patiently } from "../observe/ports.ts";
import type { CheckPorts } from "./ports.ts";

/** For what somebody is there: `runner` starts runs, `operator` also resets, drains and configures. */
export type Role = "runner" | "operator";

/** Where a role writes; `isVital`: without it nothing works. */
const ROOMS: Record<Role, readonly { room: string; isVital: boolean; key(keys: Keys): string }[]> = {
  runner: [
    { room: "locks/", isVital: true, key: (keys) => keys.lock("init", "000000000000") },
    { room: "resources/", isVital: true, key: (keys) => keys.resource("init", "000000000000") },
    { room: "history/", isVital: true, key: (keys) => keys.history("init") },
    { room: "hosts/", isVital: false, key: (keys) => keys.host("init") },
  ],
  operator: [
    { room: "config/", isVital: true, key: (keys) => keys.group("init") },
    { room: "drains/", isVital: true, key: (keys) => keys.drain("lock", "init") },
    { room: "audit/", isVital: true, key: (keys) => keys.audit("init") },
  ],
};

/** What a role may do, as etcd answers it now. */
export interface Rights {
  canRead: boolean;
  /** Rooms that it should be able to write, and cannot. */
  missing: readonly { room: string; isVital: boolean }[];
}

/** Asks etcd, room by room. Writes nothing. @throws StoreError when it is not about a permission */
export async function rightsOf(ports: CheckPorts, role: Role): Promise<Rights> {
  const { keys } = ports;
  const canRead = await isAllowed(ports, { op: "range", ...keys.everything(), limit: 1, keysOnly: true });
  const asked = ROOMS[role].map(async (room) => {
    return (await isAllowed(ports, { op: "delete", key: room.key(keys) })) ? [] : [room];
  });
  return { canRead, missing: (await Promise.all(asked)).flat() };
}

/**
 * A transaction that can never succeed: etcd checks the permission for what it would do all the same. A put would do as
 * well, were it not refused when the database is full.
 */
async function isAllowed(ports: CheckPorts, op: Op): Promise<boolean> {
  const impossible = {
    key: op.op === "delete" ? op.key : ports.keys.prefix,
    target: "mod",
    is: "less",
    value: 0n,
  } as const;
  const txn = { compare: [impossible], success: [op], failure: [] };
  try {
    await patiently(ports, (signal) => ports.store.txn(txn, signal), ports.signal);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.kind === "permission") return false;
    throw error;
  }
}

/** What this user may do as a runner. */
export function judgeRunner({ keys: { prefix } }: CheckPorts, { canRead, missing }: Rights): Finding {
  const about = { kind: "permissions", check: "permissions" };
  const rooms = missing.map(({ room }) => prefix + room);
  if (canRead && rooms.length === 0) {
    const detail = `runs: tickets, history and hosts can be written, ${prefix} can be read`;
    return { ...about, level: "ok", detail };
  }
  const faults = [
    ...(canRead ? [] : [`${prefix} cannot be read`]),
    ...(rooms.length === 0 ? [] : [`${rooms.join(", ")} cannot be written`]),
  ];
  const isVital = !canRead || missing.some((room) => room.isVital);
  const remedy = `grant the role: ${canRead ? "" : `read on ${prefix}${rooms.length === 0 ? "" : ", "}`}${
    rooms.length === 0 ? "" : `readwrite on ${rooms.join(", ")}`
  } (each as a prefix), which the role signalbox-runner of docs/etcd.md has`;
  const detail = `runs: ${faults.join("; ")}${isVital ? "" : ", so nobody sees which hosts are there; runs work"}`;
  return { ...about, level: isVital ? "failure" : "warning", detail, remedy };
}

/** What this user may do as an operator. @param isWanted  it is meant to be one */
export function judgeOperator(
  { keys: { prefix } }: CheckPorts,
  { missing }: Rights,
  isWanted: boolean,
): Finding {
  const about = { kind: "permissions", check: "permissions" };
  if (missing.length === 0)
    return { ...about, level: "ok", detail: "operators: configuration, drains and audit can be written" };
  const rooms = missing.map(({ room }) => prefix + room).join(", ");
  const detail = `operators: ${rooms} cannot be written, so this user cannot drain, reset or configure`;
  const remedy = `grant readwrite on ${rooms} (each as a prefix), which the role signalbox-operator of docs/etcd.md has`;
  return isWanted
    ? { ...about, level: "failure", detail, remedy }
    : { ...about, level: "ok", detail: `${detail}; enough for a host that only runs jobs` };
}
