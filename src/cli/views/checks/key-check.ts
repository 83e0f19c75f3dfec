import { formatBriefDuration, formatInstant, type WallTime } from "../../../core/base/clock.ts";
import {
  computeWorstLevel,
  createFindingBuilder,
  type Finding,
  type FindingLevel,
} from "../../../core/base/finding.ts";
import { isJsonObject, parseJson } from "../../../core/base/parse-json.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { LONGEST_VALUE } from "../../../core/base/size.ts";
import { canonicalizeHost, formatShortList, pluralize } from "../../../core/base/text.ts";
import { parseHostRecord } from "../../../core/fleet/host-record.ts";
import { parseAuditRecord } from "../../../core/protocol/audit.ts";
import { type PastRun, parsePastRuns } from "../../../core/protocol/history.ts";
import { findNestedPrefix, type Keys, type QueueKind } from "../../../core/protocol/keys.ts";
import { isMark, toQueue, toQueueEntry } from "../../../core/protocol/ticket.ts";
import type { KeyValue } from "../../../core/protocol/txn.ts";
import { createWarning, type Problem } from "../../../site/state/problem.ts";
import type { NamedQueue, Snapshot } from "../../../site/state/snapshot.ts";
import {
  buildUnknownKeyProblem,
  findDrainProblems,
  findGroupProblems,
  findMalformedConfig,
  findQueueProblems,
} from "../problems.ts";

/**
 * A time that a host read from its own wall clock before it wrote a key.
 * `late`: maximum time between that and the write, ms.
 */
interface ClockStamp {
  host: string;
  /** By the clock of that host. */
  at: WallTime;
  /** Revision of the write. */
  revision: bigint;
  late: number;
}

/** Difference between clocks that is reported, ms; a smaller one may only mean that a host was slow. */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;
/** Maximum age of compared times, ms: older ones do not show the current state of the clocks. */
const MAX_COMPARED_AGE_MS = 86_400_000;
/** Maximum number of stamps per host, and of hosts, to limit memory. */
const MAX_STAMPS_PER_HOST = 32;
const MAX_HOSTS = 5_000;

/** The clock of one host was ahead of another by at least `by` ms. */
interface ClockConflict {
  ahead: string;
  behind: string;
  by: number;
}

/**
 * Compares the wall clocks of hosts by the times that they wrote into etcd; revisions show the order of the writes. A
 * finding is certain, up to the time that a write may take. The check cannot find a slow clock on a host without recent
 * writes, or without later writes by other hosts.
 */
export class HostClockCheck {
  readonly #stamps = new Map<string, ClockStamp[]>();
  /** By host: how far it was ahead of this host, ms, and the time that it wrote. */
  readonly #ahead = new Map<string, { by: number; at: WallTime }>();
  readonly #conflicts = new Map<string, ClockConflict>();

  /** Adds a stamp. @param wall  wall clock of this host after the stamp was read */
  addStamp(stamp: ClockStamp, wall: WallTime): void {
    const host = canonicalizeHost(stamp.host);
    this.addTime(host, stamp.at, wall);
    const known = this.#stamps.get(host) ?? [];
    if (known.length === 0 && this.#stamps.size >= MAX_HOSTS) return;
    known.push({ ...stamp, host });
    if (known.length > MAX_STAMPS_PER_HOST) known.sort((a, b) => Number(b.revision - a.revision)).pop();
    this.#stamps.set(host, known);
  }

  /** Adds a time that a host wrote at an unknown revision. */
  addTime(host: string, at: WallTime, wall: WallTime): void {
    const by = at - wall;
    const name = canonicalizeHost(host);
    if (by > MAX_CLOCK_DIFFERENCE_MS && by > (this.#ahead.get(name)?.by ?? 0))
      this.#ahead.set(name, { by, at });
  }

  /** Adds two times in the order of their writes: the first must not be later. @param late  as in `ClockStamp`, ms */
  addSequence(
    first: { host: string; at: WallTime },
    second: { host: string; at: WallTime },
    late: number,
    wall: WallTime,
  ): void {
    const [ahead, behind] = [canonicalizeHost(first.host), canonicalizeHost(second.host)];
    const by = first.at - second.at;
    if (
      ahead === behind ||
      by - late <= MAX_CLOCK_DIFFERENCE_MS ||
      Math.max(first.at, second.at) < wall - MAX_COMPARED_AGE_MS
    )
      return;
    const key = `${ahead}\0${behind}`;
    if (by > (this.#conflicts.get(key)?.by ?? 0)) this.#conflicts.set(key, { ahead, behind, by });
  }

  /** Lists the findings. @param own  this host. @param wall  its wall clock now */
  listFindings(own: string, wall: WallTime): Finding[] {
    this.#compareStamps(wall);
    const found = [...this.#listAheadFindings(canonicalizeHost(own)), ...this.#listConflictFindings()];
    if (found.length > 0) return found;
    const hosts = this.#stamps.size;
    const detail =
      hosts === 0
        ? "no host has written a time yet"
        : `${pluralize(hosts, "host")} wrote consistent times; a slow clock shows only after its host has written later than others`;
    return [createFindingBuilder("clock", "clocks of hosts").ok(detail)];
  }

  /** Compares each stamp, in the order of revisions, with the latest time written before it. */
  #compareStamps(wall: WallTime): void {
    const all = [...this.#stamps.values()]
      .flat()
      .filter(({ host }) => !this.#ahead.has(host))
      .sort((a, b) => (a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0));
    let latest: ClockStamp | undefined;
    for (const stamp of all) {
      if (latest !== undefined) this.addSequence(latest, stamp, stamp.late, wall);
      if (latest === undefined || stamp.at > latest.at) latest = stamp;
    }
  }

  #listAheadFindings(own: string): Finding[] {
    return [...this.#ahead].map(([host, { by, at }]) =>
      createFindingBuilder("clock", `clock of ${host}`).warning(
        host === own
          ? `it wrote ${formatInstant(at)}, which is ${formatBriefDuration(by)} ahead of its clock now: the clock was set back`
          : `it is ${formatBriefDuration(by)} or more ahead of this host's (${own})`,
        REMEDY,
      ),
    );
  }

  /** Lists conflicts. Reports a clock that conflicts with several others only once. */
  #listConflictFindings(): Finding[] {
    const left = new Set(this.#conflicts.values());
    const found: Finding[] = [];
    while (left.size > 0) {
      const host = findMostNamed(left);
      const own = [...left].filter(({ ahead, behind }) => ahead === host || behind === host);
      for (const conflict of own) left.delete(conflict);
      found.push(buildConflictFinding(host, own));
    }
    return found;
  }
}

const REMEDY =
  "compare the clocks of the hosts (ntp, chrony): drains and grace end by them, locks do not depend on them";

function findMostNamed(conflicts: Iterable<ClockConflict>): string {
  const counts = new Map<string, number>();
  for (const { ahead, behind } of conflicts)
    for (const host of [ahead, behind]) counts.set(host, (counts.get(host) ?? 0) + 1);
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

function buildConflictFinding(host: string, own: readonly ClockConflict[]): Finding {
  const others = own.map(({ ahead, behind }) => (ahead === host ? behind : ahead));
  const most = own.reduce((worst, one) => (one.by > worst.by ? one : worst));
  const way = most.ahead === host ? "ahead of" : "behind";
  return createFindingBuilder("clock", `clock of ${host}`).warning(
    `it is about ${formatBriefDuration(most.by)} or more ${way} the clock of ${formatShortList(others, 3)}: the times of its writes do not match their order`,
    REMEDY,
  );
}

/** Number of findings of each kind that are listed one by one. */
const MAX_LISTED_FINDINGS = 5;

/** Collects findings. Keeps only the first few of each kind, and their number. */
class FindingTally {
  readonly #kinds = new Map<string, { first: Finding[]; count: number; level: FindingLevel }>();

  add(finding: Finding): void {
    const known = this.#kinds.get(finding.kind) ?? { first: [], count: 0, level: "ok" };
    if (known.first.length < MAX_LISTED_FINDINGS) known.first.push(finding);
    this.#kinds.set(finding.kind, {
      first: known.first,
      count: known.count + 1,
      level: computeWorstLevel([known.level, finding.level]),
    });
  }

  /** Lists the first few findings of each kind, and a summary of the others. */
  listFindings(): Finding[] {
    return [...this.#kinds].flatMap(([kind, { first, count, level }]) => {
      const more = count - first.length;
      if (more === 0) return first;
      const remedy = "see: signalbox ls problems";
      return [...first, { kind, check: "and", level, detail: `${more} more of this kind`, remedy }];
    });
  }
}

/** Problems of runs, not of stored data. Clocks are excluded because HostClockCheck compares them more precisely. */
const EXCLUDED_KINDS: ReadonlySet<Problem["kind"]> = new Set(["long-hold", "long-wait", "clock"]);

/**
 * Maximum time between a stated time and the write of its key, ms: a claim is retried while etcd is unavailable, a
 * history until the horizon.
 */
const MAX_WRITE_DELAY_MS = 15_000;

/**
 * Checks every key under the prefix. Add the keys in key order: the check keeps at most the keys of one queue.
 * `snapshot`: groups, resources, drains and hosts, read beforehand.
 */
export class KeyCheck {
  readonly #keys: Keys;
  readonly #snapshot: Snapshot;
  readonly #tally = new FindingTally();
  readonly #clocks = new HostClockCheck();
  #queue: { kind: QueueKind; name: string; kvs: KeyValue[] } | undefined;
  /** Nested prefixes, as created by CRONLOCK_DB, and the number of keys in each. */
  readonly #below = new Map<string, number>();
  /** Number of keys added. */
  count = 0;
  /** Number of tickets added. */
  tickets = 0;

  constructor(keys: Keys, snapshot: Snapshot) {
    this.#keys = keys;
    this.#snapshot = snapshot;
  }

  /** Checks a key. @param wall  wall clock after the key was read */
  add(kv: KeyValue, wall: WallTime): void {
    this.count += 1;
    this.#checkSize(kv);
    const at = this.#keys.parseQueueKey(kv.key);
    if (at?.kind !== this.#queue?.kind || at?.name !== this.#queue?.name) this.#flush(wall);
    if (at === undefined) this.#checkOther(kv, wall);
    else this.#addTicket(at, kv, wall);
  }

  /** Definitions and calendars of schedules may be long; other values are not. */
  #checkSize({ key, value }: KeyValue): void {
    if (value.length <= LONGEST_VALUE) return;
    if (["schedule", "calendar", "due", "running"].includes(this.#keys.parse(key).kind)) return;
    this.#tally.add(
      createFindingBuilder("large-value", `key ${key}`).warning(
        `its value has ${Math.round(value.length / 1024)} KiB, and signalbox writes no such value there`,
        `find out which user writes it, then: etcdctl del ${quoteShellWord(key)}`,
      ),
    );
  }

  #addTicket(at: { kind: QueueKind; name: string }, kv: KeyValue, wall: WallTime): void {
    this.#queue ??= { ...at, kvs: [] };
    this.#queue.kvs.push(kv);
    const entry = toQueueEntry(kv);
    if (isMark(entry)) return;
    this.tickets += 1;
    const { ticket } = entry;
    if (ticket === undefined) return;
    const { host, enqueuedAt, grantedAt } = ticket;
    // Tickets in resource queues may follow the lock ticket after any time.
    if (at.kind === "lock")
      this.#clocks.addStamp(
        { host, at: enqueuedAt, revision: kv.createRevision, late: MAX_WRITE_DELAY_MS },
        wall,
      );
    if (grantedAt !== undefined) this.#clocks.addTime(host, grantedAt, wall);
  }

  /** Lists all findings. @param own  this host. */
  listFindings(own: string, wall: WallTime): Finding[] {
    this.#flush(wall);
    const inputs = { snapshot: this.#snapshot, wall };
    const kept = [
      ...findMalformedConfig(this.#snapshot),
      ...findDrainProblems(this.#snapshot, wall),
      ...findGroupProblems(inputs),
    ];
    for (const problem of kept) this.#report(problem);
    const found = this.#tally.listFindings();
    const detail = `${this.count} under ${this.#keys.prefix}, ${this.tickets} of them tickets`;
    const clean: Finding[] = found.length > 0 ? [] : [createFindingBuilder("keys").ok(detail)];
    const below = [...this.#below].map(([inner, count]): Finding => {
      const told = `a prefix of its own (CRONLOCK_DB), with ${pluralize(count, "key")}; check it with --prefix ${inner}`;
      return createFindingBuilder("keys", `prefix ${inner}`).ok(told);
    });
    return [...found, ...clean, ...below, ...this.#clocks.listFindings(own, wall)];
  }

  #flush(wall: WallTime): void {
    if (this.#queue === undefined) return;
    const { kind, name, kvs } = this.#queue;
    const queue: NamedQueue = { kind, name, entries: toQueue(kvs) };
    this.#queue = undefined;
    for (const problem of findQueueProblems(queue, { snapshot: this.#snapshot, wall }))
      if (!EXCLUDED_KINDS.has(problem.kind)) this.#report(problem);
  }

  #checkOther(kv: KeyValue, wall: WallTime): void {
    const parsed = this.#keys.parse(kv.key);
    if (parsed.kind === "unknown") this.#checkUnknown(kv.key);
    if (parsed.kind === "audit") this.#checkAudit(parsed.name, kv, wall);
    if (parsed.kind === "history") this.#checkHistory(kv, wall);
    if (parsed.kind === "host") this.#checkHost(parsed.name, kv, wall);
    if (parsed.kind === "drain" && !isJsonObject(parseJson(kv.value)))
      this.#reportUnreadable(kv, "a drain, but it still applies", "signalbox undrain, and drain again");
  }

  #checkUnknown(key: string): void {
    const inner = findNestedPrefix(this.#keys, key);
    if (inner === undefined) this.#report(buildUnknownKeyProblem(key, "not a key of signalbox"));
    else this.#below.set(inner, (this.#below.get(inner) ?? 0) + 1);
  }

  #checkAudit(id: string, kv: KeyValue, wall: WallTime): void {
    const record = parseAuditRecord(id, kv.value);
    if (record === undefined) this.#reportUnreadable(kv, "an audit record", "signalbox prune");
    else this.#clocks.addStamp({ ...record, revision: kv.createRevision, late: MAX_WRITE_DELAY_MS }, wall);
  }

  /** Checks a history. The runs of a lock are sequential: a run writes its end before the next run is granted. */
  #checkHistory(kv: KeyValue, wall: WallTime): void {
    if (!isJsonObject(parseJson(kv.value)))
      this.#reportUnreadable(kv, "a history", "no action needed: the next run of the lock starts a new one");
    const runs = parsePastRuns(kv.value);
    for (const { host, endedAt } of runs) this.#clocks.addTime(host, endedAt, wall);
    for (const [index, later] of runs.entries()) {
      const earlier = runs[index + 1];
      if (earlier !== undefined && isInTurn(earlier, later))
        this.#clocks.addSequence(
          { host: earlier.host, at: earlier.endedAt },
          { host: later.host, at: later.grantedAt },
          MAX_WRITE_DELAY_MS,
          wall,
        );
    }
  }

  #checkHost(fqdn: string, kv: KeyValue, wall: WallTime): void {
    const { seenAt } = parseHostRecord(fqdn, kv.value);
    if (seenAt > 0) this.#clocks.addTime(fqdn, seenAt, wall);
    else this.#reportUnreadable(kv, "a host record", `no action needed: ${REWRITTEN_RECORD_NOTE}`);
  }

  #reportUnreadable(kv: KeyValue, what: string, remedy: string): void {
    this.#report(createWarning("malformed", `key ${kv.key}`, `its value cannot be read as ${what}`, remedy));
  }

  #report({ kind, level, subject, detail, remedy }: Problem): void {
    this.#tally.add({ kind, check: subject, level, detail, remedy });
  }
}

const REWRITTEN_RECORD_NOTE = "the next run on the host writes it again";

/** Whether two entries are in the order of grants: tokens increase from run to run. */
function isInTurn(earlier: PastRun, later: PastRun): boolean {
  const areNumbers = [earlier, later].every(({ token }) => /^\d{1,19}$/.test(token));
  return areNumbers && BigInt(earlier.token) < BigInt(later.token);
}
