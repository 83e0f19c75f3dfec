import { briefDuration, formatInstant } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";
import { canonicalHost } from "../../fleet/groups.ts";

/**
 * A time that a host wrote down by its own wall clock before it wrote a key.
 * `late`: how long after that the key may have been written at most, ms.
 */
export interface Stamp {
  host: string;
  /** Wall clock of that host, ms since the epoch. */
  at: number;
  /** Of the write. */
  revision: bigint;
  late: number;
}

/** Clocks that are this far apart are worth a word, ms; below, a host may only have been slow. */
const APART = 5_000;
/** What was written longer ago than this says nothing of clocks as they are today, ms. */
const RECENT = 86_400_000;
/** Times kept of one host, and hosts at all: enough to compare, and no more than fits. */
const STAMPS = 32;
const HOSTS = 5_000;

/** One host's clock was ahead of another's, by this much or more. */
interface Conflict {
  ahead: string;
  behind: string;
  by: number;
}

/**
 * Compares the wall clocks of hosts by what they wrote into etcd, whose revisions tell what came first. Whatever it finds
 * is certain, up to the time that a write may take; what it cannot find: a clock that is slow on a host that wrote
 * nothing lately, or after which nobody else did.
 */
export class Clocks {
  readonly #stamps = new Map<string, Stamp[]>();
  /** By host, how far it was ahead of this one. */
  readonly #ahead = new Map<string, { by: number; at: number }>();
  readonly #conflicts = new Map<string, Conflict>();

  /** @param wall  this host's wall clock after the stamp was read, ms since the epoch */
  stamp(stamp: Stamp, wall: number): void {
    const host = canonicalHost(stamp.host);
    this.heard(host, stamp.at, wall);
    const known = this.#stamps.get(host) ?? [];
    if (known.length === 0 && this.#stamps.size >= HOSTS) return;
    known.push({ ...stamp, host });
    if (known.length > STAMPS) known.sort((a, b) => Number(b.revision - a.revision)).pop();
    this.#stamps.set(host, known);
  }

  /** A time that a host wrote, of which it is not known when. */
  heard(host: string, at: number, wall: number): void {
    const by = at - wall;
    const name = canonicalHost(host);
    if (by > APART && by > (this.#ahead.get(name)?.by ?? 0)) this.#ahead.set(name, { by, at });
  }

  /** One host wrote a time before another did: what the first wrote must not be later. @param late  as of a stamp */
  followed(
    first: { host: string; at: number },
    second: { host: string; at: number },
    late: number,
    wall: number,
  ): void {
    const [ahead, behind] = [canonicalHost(first.host), canonicalHost(second.host)];
    const by = first.at - second.at;
    if (ahead === behind || by - late <= APART || Math.max(first.at, second.at) < wall - RECENT) return;
    const key = `${ahead}\0${behind}`;
    if (by > (this.#conflicts.get(key)?.by ?? 0)) this.#conflicts.set(key, { ahead, behind, by });
  }

  /** @param own  this host. @param wall  its wall clock now, ms since the epoch */
  findings(own: string, wall: number): Finding[] {
    this.#compareStamps(wall);
    const found = [...this.#aheadFindings(canonicalHost(own)), ...this.#conflictFindings()];
    if (found.length > 0) return found;
    const hosts = this.#stamps.size;
    const detail =
      hosts === 0
        ? "no host wrote anything that a clock could be told from"
        : `${hosts} ${hosts === 1 ? "host" : "hosts"} wrote times that fit together; a slow clock shows only once its host has written after others`;
    return [{ kind: "clock", check: "clocks of hosts", level: "ok", detail }];
  }

  /** Of any two writes, in the order of revisions, with the latest time before each. */
  #compareStamps(wall: number): void {
    const all = [...this.#stamps.values()]
      .flat()
      .filter(({ host }) => !this.#ahead.has(host))
      .sort((a, b) => (a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0));
    let latest: Stamp | undefined;
    for (const stamp of all) {
      if (latest !== undefined) this.followed(latest, stamp, stamp.late, wall);
      if (latest === undefined || stamp.at > latest.at) latest = stamp;
    }
  }

  #aheadFindings(own: string): Finding[] {
    return [...this.#ahead].map(([host, { by, at }]) => ({
      ...{ kind: "clock", check: `clock of ${host}`, level: "warning" },
      detail:
        host === own
          ? `it wrote ${formatInstant(at)}, which is ${briefDuration(by)} ahead of it now: it was set back`
          : `it is ${briefDuration(by)} or more ahead of this host's (${own})`,
      remedy: REMEDY,
    }));
  }

  /** A clock that disagrees with many is named once. */
  #conflictFindings(): Finding[] {
    const left = new Set(this.#conflicts.values());
    const found: Finding[] = [];
    while (left.size > 0) {
      const host = mostNamed(left);
      const own = [...left].filter(({ ahead, behind }) => ahead === host || behind === host);
      for (const conflict of own) left.delete(conflict);
      found.push(conflictFinding(host, own));
    }
    return found;
  }
}

const REMEDY =
  "compare the clocks of the hosts (ntp, chrony): drains and grace end by them, locks do not depend on them";

function mostNamed(conflicts: Iterable<Conflict>): string {
  const counts = new Map<string, number>();
  for (const { ahead, behind } of conflicts)
    for (const host of [ahead, behind]) counts.set(host, (counts.get(host) ?? 0) + 1);
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

function conflictFinding(host: string, own: readonly Conflict[]): Finding {
  const others = own.map(({ ahead, behind }) => (ahead === host ? behind : ahead));
  const most = own.reduce((worst, one) => (one.by > worst.by ? one : worst));
  const names = others.slice(0, 3).join(", ") + (others.length > 3 ? ` and ${others.length - 3} more` : "");
  const way = most.ahead === host ? "ahead of" : "behind";
  return {
    ...{ kind: "clock", check: `clock of ${host}`, level: "warning", remedy: REMEDY },
    detail: `it is about ${briefDuration(most.by)} or more ${way} that of ${names}: times of writes do not fit their order`,
  };
}
