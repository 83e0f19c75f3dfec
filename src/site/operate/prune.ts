import { type HostRecord, parseHostRecord } from "../../core/fleet/host-record.ts";
import { formatAuditTime } from "../../core/protocol/audit.ts";
import { deleteKeys, guardUnchanged } from "../../core/protocol/guards.ts";
import { type Queue, toQueue } from "../../core/protocol/ticket.ts";
import type { KeyRange, Op } from "../../core/protocol/txn.ts";
import { readAll } from "../observe/read.ts";
import { type ActionResult, executeAction, type OperatorPorts } from "./operator-action.ts";
import {
  type DatedRecord,
  deleteExpired,
  EXPIRING_KINDS,
  type RetentionLimits,
  readExpired,
} from "./retention.ts";

/** Audit records and host records that are old enough to delete, and claims whose tickets have vanished. */
export interface PruneCandidates {
  revision: bigint;
  /** Audit records before one instant. */
  audit: { range: Required<KeyRange>; count: number };
  /** Hosts that were not seen since a given instant. */
  hosts: readonly { record: HostRecord; key: string; modRevision: bigint }[];
  /** Marks whose tickets have vanished. Each may be removed only when it cannot keep a command any more. */
  vanished: Queue;
  /** What the settings do not keep. */
  expired: readonly DatedRecord[];
}

/** What the audit says that a prune is about. */
export const PRUNE_TARGET = "audit, hosts, vanished, expired";

/** Keys of a kind in one transaction: together fewer than etcd's 128 operations. The next prune deletes the rest. */
const MOST_HOSTS = 60;
const MOST_VANISHED = 60;

/**
 * Reads what can be deleted.
 * @param before  wall clock, ms since the epoch; undefined keeps all records of that kind
 * @param isVanishedWanted  whether the marks of vanished tickets are read, from all queues
 */
export async function readPruneCandidates(
  ports: OperatorPorts,
  before: { audit: number | undefined; hosts: number | undefined; expired?: RetentionLimits | undefined },
  isVanishedWanted = false,
): Promise<PruneCandidates> {
  const { key: start, rangeEnd: end } = ports.keys.audits();
  const until = before.audit === undefined ? start : ports.keys.audit(formatAuditTime(before.audit));
  const range = { key: start, rangeEnd: until < end ? until : end };
  const records = until === start ? [] : await readAll(ports, range, { keysOnly: true });
  const since = before.hosts ?? -Infinity;
  const kvs = await readAll(ports, ports.keys.hosts());
  const hosts = kvs.flatMap(({ key, value, modRevision }) => {
    const parsed = ports.keys.parse(key);
    const record = parsed.kind === "host" ? parseHostRecord(parsed.name, value) : undefined;
    return record !== undefined && record.seenAt < since ? [{ record, key, modRevision }] : [];
  });
  const vanished = isVanishedWanted ? await readVanished(ports) : [];
  const expired = before.expired === undefined ? [] : await readAllExpired(ports, before.expired);
  const { revision } = await ports.store.readRange({ key: start, limit: 1, keysOnly: true });
  return {
    revision,
    audit: { range, count: records.length },
    hosts: hosts.slice(0, MOST_HOSTS),
    vanished,
    expired,
  };
}

async function readAllExpired(ports: OperatorPorts, limits: RetentionLimits): Promise<DatedRecord[]> {
  const kinds = await Promise.all(EXPIRING_KINDS.map((kind) => readExpired(ports, kind, limits)));
  return kinds.flatMap((kind) => kind.list());
}

async function readVanished(ports: OperatorPorts): Promise<Queue> {
  const kvs = [
    ...(await readAll(ports, ports.keys.locks())),
    ...(await readAll(ports, ports.keys.resources())),
  ];
  return toQueue(kvs)
    .filter(({ vanished }) => vanished !== undefined)
    .slice(0, MOST_VANISHED);
}

/**
 * Deletes the candidates. The caller must wait first until the commands of vanished tickets have ended. Refuses if a host was
 * seen or a run removed a mark after the candidates were read. Expired records are deleted afterwards, in transactions of their
 * own, because there may be too many for one.
 * @throws SignalboxError 77, StoreError
 */
export async function prune(
  ports: OperatorPorts,
  { revision, audit, hosts, vanished, expired }: PruneCandidates,
  reason?: string,
): Promise<ActionResult> {
  const records: Op[] = audit.count === 0 ? [] : [{ op: "delete", ...audit.range }];
  const outcome = `${audit.count} audit records, ${hosts.length} hosts, ${vanished.length} vanished tickets and ${expired.length} expired records forgotten`;
  const result = await executeAction(ports, {
    action: "prune",
    target: PRUNE_TARGET,
    seen: revision,
    reason,
    outcome,
    compare: guardUnchanged([...hosts, ...vanished]),
    ops: [...records, ...deleteKeys([...hosts, ...vanished])],
  });
  if (result.kind === "done") await deleteExpired(ports, expired);
  return result;
}
