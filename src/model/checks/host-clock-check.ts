import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";
import { canonicalizeHost } from "../../fleet/groups.ts";
import { formatShortList } from "../views/short-list.ts";

/**
 * A time that a host read from its own wall clock before it wrote a key.
 * `late`: maximum time between that and the write, ms.
 */
interface ClockStamp {
  host: string;
  /** Wall clock of that host, ms since the epoch. */
  at: number;
  /** Revision of the write. */
  revision: bigint;
  late: number;
}

/** Difference between clocks that is reported, ms; a smaller one may only mean that a host was slow. */
const APART = 5_000;
/** Maximum age of compared times, ms: older ones do not show the current state of the clocks. */
const RECENT = 86_400_000;
/** Maximum number of stamps per host, and of hosts, to limit memory. */
const STAMPS = 32;
const HOSTS = 5_000;

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
  readonly #ahead = new Map<string, { by: number; at: number }>();
  readonly #conflicts = new Map<string, ClockConflict>();

  /** Adds a stamp. @param wall  wall clock of this host after the stamp was read, ms since the epoch */
  addStamp(stamp: ClockStamp, wall: number): void {
    const host = canonicalizeHost(stamp.host);
    this.addTime(host, stamp.at, wall);
    const known = this.#stamps.get(host) ?? [];
    if (known.length === 0 && this.#stamps.size >= HOSTS) return;
    known.push({ ...stamp, host });
    if (known.length > STAMPS) known.sort((a, b) => Number(b.revision - a.revision)).pop();
    this.#stamps.set(host, known);
  }

  /** Adds a time that a host wrote at an unknown revision. */
  addTime(host: string, at: number, wall: number): void {
    const by = at - wall;
    const name = canonicalizeHost(host);
    if (by > APART && by > (this.#ahead.get(name)?.by ?? 0)) this.#ahead.set(name, { by, at });
  }

  /** Adds two times in the order of their writes: the first must not be later. @param late  as in `ClockStamp`, ms */
  addSequence(
    first: { host: string; at: number },
    second: { host: string; at: number },
    late: number,
    wall: number,
  ): void {
    const [ahead, behind] = [canonicalizeHost(first.host), canonicalizeHost(second.host)];
    const by = first.at - second.at;
    if (ahead === behind || by - late <= APART || Math.max(first.at, second.at) < wall - RECENT) return;
    const key = `${ahead}\0${behind}`;
    if (by > (this.#conflicts.get(key)?.by ?? 0)) this.#conflicts.set(key, { ahead, behind, by });
  }

  /** Lists the findings. @param own  this host. @param wall  its wall clock now, ms since the epoch */
  listFindings(own: string, wall: number): Finding[] {
    this.#compareStamps(wall);
    const found = [...this.#listAheadFindings(canonicalizeHost(own)), ...this.#listConflictFindings()];
    if (found.length > 0) return found;
    const hosts = this.#stamps.size;
    const detail =
      hosts === 0
        ? "no host has written a time yet"
        : `${hosts} ${hosts === 1 ? "host" : "hosts"} wrote consistent times; a slow clock shows only after its host has written later than others`;
    return [{ kind: "clock", check: "clocks of hosts", level: "ok", detail }];
  }

  /** Compares each stamp, in the order of revisions, with the latest time written before it. */
  #compareStamps(wall: number): void {
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
    return [...this.#ahead].map(([host, { by, at }]) => ({
      kind: "clock",
      check: `clock of ${host}`,
      level: "warning",
      detail:
        host === own
          ? `it wrote ${formatInstant(at)}, which is ${formatBriefDuration(by)} ahead of its clock now: the clock was set back`
          : `it is ${formatBriefDuration(by)} or more ahead of this host's (${own})`,
      remedy: REMEDY,
    }));
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
  return {
    kind: "clock",
    check: `clock of ${host}`,
    level: "warning",
    remedy: REMEDY,
    detail: `it is about ${formatBriefDuration(most.by)} or more ${way} the clock of ${formatShortList(others, 3)}: the times of its writes do not match their order`,
  };
}
