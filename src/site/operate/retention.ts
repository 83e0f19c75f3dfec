import { DAY_MS, type Millis, type WallTime } from "../../core/base/clock.ts";
import { type HostRecord, parseHostRecord } from "../../core/fleet/host-record.ts";
import { formatAuditTime, parseAuditTime } from "../../core/protocol/audit.ts";
import { deleteKeys, guardRevision, guardUnchanged } from "../../core/protocol/guards.ts";
import { parsePastRuns } from "../../core/protocol/history.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { guardSchema } from "../../core/protocol/schema.ts";
import { type Queue, toQueue } from "../../core/protocol/ticket.ts";
import type { KeyRange, KeyValue, Op, Txn } from "../../core/protocol/txn.ts";
import { commitWithRetries, type ObserverPorts } from "../observe/ports.ts";
import { readAll, readPages } from "../observe/read.ts";
import { type ActionResult, executeAction, type OperatorPorts } from "./operator-action.ts";

/** Limits of the records that are kept, by age and by number. */
export interface RetentionLimits {
  /** ms; undefined: of any age. */
  age: Millis | undefined;
  /** Of each kind; undefined: any number. */
  count: number | undefined;
}

export function getRetentionLimits(settings: {
  retentionAge: number | undefined;
  retentionCount: number;
}): RetentionLimits {
  const { retentionAge: age, retentionCount: count } = settings;
  return { age, count: count === 0 ? undefined : count };
}

/** A record that can expire. */
export interface DatedRecord {
  key: string;
  modRevision: bigint;
  /** When it was written by the clock of its host, ms since the epoch; NaN if it cannot be read. */
  at: WallTime;
}

/** Records of one kind that a pass deletes at most: it keeps them in memory. The next pass deletes the rest. */
const MAX_DELETED_RECORDS = 20_000;

/**
 * Finds the records of one kind that have expired, oldest first. Clocks of hosts differ, so a record expires by its age only if
 * one that is young enough was written after it: a host whose clock is behind loses nothing, and where nothing is written, as it
 * also seems to a host whose clock is far ahead, nothing expires.
 */
export class ExpiredRecords {
  readonly #limits: RetentionLimits;
  readonly #now: WallTime;
  readonly #spared: number;
  /** The oldest records, in no order. */
  #oldest: DatedRecord[] = [];
  #total = 0;
  /** Revision of the first record that is young enough. */
  #youngFrom: bigint | undefined;

  /** @param spared  the number of records does not matter for those that are younger, ms */
  constructor(limits: RetentionLimits, now: WallTime, spared: number) {
    this.#limits = limits;
    this.#now = now;
    this.#spared = spared;
  }

  /** Whether `list` leaves out expired records. */
  get isCut(): boolean {
    return this.list().length === MAX_DELETED_RECORDS;
  }

  add(record: DatedRecord): void {
    this.#total += 1;
    // A time that is still to come says nothing about the records before it.
    const isYoung = record.at >= this.#getOldestTime() && record.at < this.#now + DAY_MS;
    if (isYoung && (this.#youngFrom === undefined || record.modRevision < this.#youngFrom))
      this.#youngFrom = record.modRevision;
    this.#oldest.push(record);
    if (this.#oldest.length >= 2 * MAX_DELETED_RECORDS) this.#dropNewest();
  }

  list(): DatedRecord[] {
    this.#dropNewest();
    const { count = this.#total } = this.#limits;
    return this.#oldest.filter((record, index) => {
      const isOld = record.at < this.#getOldestTime();
      if (isOld && this.#youngFrom !== undefined && record.modRevision < this.#youngFrom) return true;
      return index < this.#total - count && record.at < this.#now - this.#spared;
    });
  }

  #getOldestTime(): number {
    return this.#now - (this.#limits.age ?? Infinity);
  }

  #dropNewest(): void {
    this.#oldest.sort((a, b) => (a.modRevision < b.modRevision ? -1 : 1));
    this.#oldest.length = Math.min(this.#oldest.length, MAX_DELETED_RECORDS);
  }
}

interface RecordKind {
  range: (keys: Keys) => Required<KeyRange>;
  /** Whether the key states the time. */
  keysOnly: boolean;
  /** @returns undefined if the key is not such a record */
  findTime: (keys: Keys, kv: KeyValue) => number | undefined;
  /** @see ExpiredRecords */
  spared: number;
}

const KINDS = {
  audit: {
    range: (keys) => keys.audits(),
    keysOnly: true,
    findTime: (keys, { key }) => {
      const parsed = keys.parse(key);
      return parsed.kind === "audit" ? parseAuditTime(parsed.name) : undefined;
    },
    spared: 0,
  },
  // `check lock` looks for the last run of a lock, and jobs run once a day.
  history: {
    range: (keys) => keys.histories(),
    keysOnly: false,
    findTime: (_, { value }) => parsePastRuns(value)[0]?.endedAt ?? Number.NaN,
    spared: 2 * DAY_MS,
  },
} satisfies Record<string, RecordKind>;

/** `audit`: what operators did. `history`: the last runs of a lock. */
export type ExpiringKind = keyof typeof KINDS;
export const EXPIRING_KINDS = Object.keys(KINDS) as ExpiringKind[];

/**
 * Reads which records of a kind have expired. Locks that are held or waited for keep their histories.
 * @throws StoreError
 */
export async function readExpired(
  ports: ObserverPorts,
  name: ExpiringKind,
  limits: RetentionLimits,
  signal?: AbortSignal,
): Promise<ExpiredRecords> {
  const { keys, clock } = ports;
  const { range, keysOnly, findTime, spared }: RecordKind = KINDS[name];
  const expired = new ExpiredRecords(limits, clock.getWallTime(), spared);
  const locks = name === "history" ? await readUsedLocks(ports, signal) : undefined;
  for await (const { kvs } of readPages(ports, range(keys), { keysOnly, signal })) {
    for (const kv of kvs) {
      const { key, modRevision } = kv;
      const at = isHistoryOf(keys, key, locks) ? undefined : findTime(keys, kv);
      if (at !== undefined) expired.add({ key, modRevision, at });
    }
  }
  return expired;
}

async function readUsedLocks(ports: ObserverPorts, signal?: AbortSignal): Promise<Set<string | undefined>> {
  const kvs = await readAll(ports, ports.keys.locks(), { keysOnly: true, signal });
  return new Set(kvs.map(({ key }) => ports.keys.parseQueueKey(key)?.name));
}

function isHistoryOf(keys: Keys, key: string, locks: ReadonlySet<string | undefined> = new Set()): boolean {
  const parsed = keys.parse(key);
  return parsed.kind === "history" && locks.has(parsed.name);
}

/** Records that one transaction deletes, each with a guard of its own: fewer than etcd's 128 operations. */
const RECORDS_PER_TRANSACTION = 50;
/** Pause between two transactions, ms: others write too. */
const TRANSACTION_PAUSE_MS = 50;

/**
 * Deletes records, unless they were written again meanwhile. Others may delete the same ones.
 * @returns how many were deleted here
 * @throws StoreError
 */
export async function deleteExpired(
  ports: ObserverPorts,
  records: readonly DatedRecord[],
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let start = 0; start < records.length; start += RECORDS_PER_TRANSACTION) {
    if (start > 0) await ports.clock.sleep(TRANSACTION_PAUSE_MS, signal);
    const txn: Txn = {
      compare: [guardSchema(ports.keys)],
      success: records.slice(start, start + RECORDS_PER_TRANSACTION).map(buildDeletion),
      failure: [],
    };
    const { succeeded, results } = await commitWithRetries(ports, txn, signal);
    if (!succeeded) return deleted; // another version of signalbox decides what is kept
    deleted += results.filter((result) => result.op === "txn" && result.succeeded).length;
  }
  return deleted;
}

function buildDeletion({ key, modRevision }: DatedRecord): Op {
  const txn: Txn = {
    compare: [guardRevision(key, modRevision)],
    success: [{ op: "delete", key }],
    failure: [],
  };
  return { op: "txn", txn };
}

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
