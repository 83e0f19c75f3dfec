import { type HostRecord, parseHost } from "../../fleet/host-record.ts";
import { auditTime } from "../../protocol/audit.ts";
import { sameRevision } from "../../protocol/guards.ts";
import type { KeyRange, Op } from "../../protocol/txn.ts";
import { readAll } from "../observe/read.ts";
import { act, type Receipt } from "./act.ts";
import type { OperatorPorts } from "./ports.ts";

/** What is old enough to be forgotten. */
export interface Litter {
  revision: bigint;
  /** Audit records, all before one instant. */
  audit: { range: Required<KeyRange>; count: number };
  /** Hosts that have not been seen since. */
  hosts: readonly { record: HostRecord; key: string; modRevision: bigint }[];
}

/** Host records in one transaction, below etcd's 128 operations; the rest is for the next time. */
const MOST_HOSTS = 100;

/**
 * Looks what could be forgotten.
 * @param before  wall clocks, ms since the epoch; undefined leaves that kind alone
 */
export async function litter(
  ports: OperatorPorts,
  before: { audit: number | undefined; hosts: number | undefined },
): Promise<Litter> {
  const { key: start, rangeEnd: end } = ports.keys.audits();
  const until = before.audit === undefined ? start : ports.keys.audit(auditTime(before.audit));
  const range = { key: start, rangeEnd: until < end ? until : end };
  const records = until === start ? [] : await readAll(ports, range, { keysOnly: true });
  const since = before.hosts ?? Number.NEGATIVE_INFINITY;
  const kvs = await readAll(ports, ports.keys.hosts());
  const hosts = kvs.flatMap(({ key, value, modRevision }) => {
    const parsed = ports.keys.parse(key);
    const record = parsed.kind === "host" ? parseHost(parsed.name, value) : undefined;
    return record !== undefined && record.seenAt < since ? [{ record, key, modRevision }] : [];
  });
  const { revision } = await ports.store.range({ key: start, limit: 1, keysOnly: true });
  return { revision, audit: { range, count: records.length }, hosts: hosts.slice(0, MOST_HOSTS) };
}

/** Forgets it. A host that was seen meanwhile makes it refuse. @throws SignalboxError 77, StoreError */
export function prune(
  ports: OperatorPorts,
  { revision, audit, hosts }: Litter,
  reason?: string,
): Promise<Receipt> {
  const compare = hosts.map(({ key, modRevision }) => sameRevision(key, modRevision));
  const records: Op[] = audit.count === 0 ? [] : [{ op: "delete", ...audit.range }];
  const ops = [...records, ...hosts.map(({ key }): Op => ({ op: "delete", key }))];
  const outcome = `${audit.count} audit records and ${hosts.length} hosts forgotten`;
  return act(ports, {
    action: "prune",
    target: "audit, hosts",
    seen: revision,
    reason,
    outcome,
    compare,
    ops,
  });
}
