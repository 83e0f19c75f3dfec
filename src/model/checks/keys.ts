import type { Finding } from "../../base/finding.ts";
import { parseHost } from "../../fleet/host-record.ts";
import { auditOf } from "../../protocol/audit.ts";
import { prefixBelow } from "../../protocol/below.ts";
import { type PastRun, pastRuns } from "../../protocol/history.ts";
import type { Keys, QueueKind } from "../../protocol/keys.ts";
import { placeOf, queueOf } from "../../protocol/ticket.ts";
import type { KeyValue } from "../../protocol/txn.ts";
import type { NamedQueue, Picture } from "../picture.ts";
import { drainProblems, groupProblems, keptProblems, strange } from "../problems/kept.ts";
import { PATIENCE, type Problem } from "../problems/problem.ts";
import { queueProblems } from "../problems/queue.ts";
import { Clocks } from "./clocks.ts";
import { Tally } from "./tally.ts";

/** What matters to whoever waits, and not to the health of what is kept; clocks are compared better here. */
const NOT_HERE: ReadonlySet<Problem["kind"]> = new Set(["long-hold", "long-wait", "clock"]);

/** How long after its time a key may have been written, ms: a claim is tried while etcd is away, a history until the horizon. */
const LATE = { claim: 15_000, audit: 15_000, grant: 15_000 };

/**
 * Looks at every key under the prefix, given in the order of keys, and keeps no more of them than one queue.
 * `picture`: groups, resources, drains and hosts, which were read before.
 */
export class KeyCheck {
  readonly #keys: Keys;
  readonly #picture: Picture;
  readonly #tally = new Tally();
  readonly #clocks = new Clocks();
  #queue: { kind: QueueKind; name: string; kvs: KeyValue[] } | undefined;
  /** Prefixes below this one, as CRONLOCK_DB makes them, and how many keys each has. */
  readonly #below = new Map<string, number>();
  /** Keys seen so far. */
  count = 0;
  /** Tickets among them. */
  tickets = 0;

  constructor(keys: Keys, picture: Picture) {
    this.#keys = keys;
    this.#picture = picture;
  }

  /** @param wall  wall clock after the key was read, ms since the epoch */
  see(kv: KeyValue, wall: number): void {
    this.count += 1;
    const at = this.#keys.queueAt(kv.key);
    if (at?.kind !== this.#queue?.kind || at?.name !== this.#queue?.name) this.#flush(wall);
    if (at === undefined) this.#seeOther(kv, wall);
    else this.#seeTicket(at, kv, wall);
  }

  #seeTicket(at: { kind: QueueKind; name: string }, kv: KeyValue, wall: number): void {
    this.tickets += 1;
    this.#queue ??= { ...at, kvs: [] };
    this.#queue.kvs.push(kv);
    const { ticket } = placeOf(kv);
    if (ticket === undefined) return;
    const { host, enqueuedAt, grantedAt } = ticket;
    // The tickets on resources follow that on the lock as late as they please.
    if (at.kind === "lock")
      this.#clocks.stamp({ host, at: enqueuedAt, revision: kv.createRevision, late: LATE.claim }, wall);
    if (grantedAt !== undefined) this.#clocks.heard(host, grantedAt, wall);
  }

  /** @param own  this host. @param wall  wall clock, ms since the epoch */
  findings(own: string, wall: number): Finding[] {
    this.#flush(wall);
    const look = { picture: this.#picture, wall, patience: PATIENCE };
    const kept = [
      ...keptProblems(this.#picture),
      ...drainProblems(this.#picture, wall),
      ...groupProblems(look),
    ];
    for (const problem of kept) this.#tell(problem);
    const found = this.#tally.findings();
    const detail = `${this.count} under ${this.#keys.prefix}, ${this.tickets} of them tickets`;
    const clean: Finding[] = found.length > 0 ? [] : [{ kind: "keys", check: "keys", level: "ok", detail }];
    const below = [...this.#below].map(([inner, count]): Finding => {
      const told = `its own, with ${count} ${count === 1 ? "key" : "keys"} (CRONLOCK_DB); look at it with --prefix ${inner}`;
      return { kind: "keys", check: `prefix ${inner}`, level: "ok", detail: told };
    });
    return [...found, ...clean, ...below, ...this.#clocks.findings(own, wall)];
  }

  #flush(wall: number): void {
    if (this.#queue === undefined) return;
    const { kind, name, kvs } = this.#queue;
    const queue: NamedQueue = { kind, name, places: queueOf(kvs) };
    this.#queue = undefined;
    for (const problem of queueProblems(queue, { picture: this.#picture, wall, patience: PATIENCE }))
      if (!NOT_HERE.has(problem.kind)) this.#tell(problem);
  }

  #seeOther(kv: KeyValue, wall: number): void {
    const parsed = this.#keys.parse(kv.key);
    if (parsed.kind === "unknown") this.#seeStrange(kv.key);
    if (parsed.kind === "audit") this.#seeAudit(parsed.name, kv, wall);
    if (parsed.kind === "history") this.#seeHistory(kv, wall);
    if (parsed.kind === "host") this.#seeHost(parsed.name, kv, wall);
    if (parsed.kind === "drain" && !isObject(kv.value))
      this.#unreadable(kv, "a drain; it stops things all the same", "signalbox undrain, and drain again");
  }

  #seeStrange(key: string): void {
    const inner = prefixBelow(this.#keys, key);
    if (inner === undefined) this.#tell(strange(key, "not a key of signalbox"));
    else this.#below.set(inner, (this.#below.get(inner) ?? 0) + 1);
  }

  #seeAudit(id: string, kv: KeyValue, wall: number): void {
    const record = auditOf(id, kv.value);
    if (record === undefined) this.#unreadable(kv, "a record of the audit", "signalbox prune");
    else this.#clocks.stamp({ ...record, revision: kv.createRevision, late: LATE.audit }, wall);
  }

  /** The runs of a lock followed one another: who ended wrote its time before the next could be granted. */
  #seeHistory(kv: KeyValue, wall: number): void {
    if (!isObject(kv.value))
      this.#unreadable(kv, "a history", "nothing needs be done: the lock's next run begins a new one");
    const runs = pastRuns(kv.value);
    for (const { host, endedAt } of runs) this.#clocks.heard(host, endedAt, wall);
    for (const [index, later] of runs.entries()) {
      const earlier = runs[index + 1];
      if (earlier !== undefined && isInTurn(earlier, later))
        this.#clocks.followed(
          { host: earlier.host, at: earlier.endedAt },
          { host: later.host, at: later.grantedAt },
          LATE.grant,
          wall,
        );
    }
  }

  #seeHost(fqdn: string, kv: KeyValue, wall: number): void {
    const { seenAt } = parseHost(fqdn, kv.value);
    if (seenAt > 0) this.#clocks.heard(fqdn, seenAt, wall);
    else this.#unreadable(kv, "what a host says of itself", `nothing needs be done: ${AGAIN}`);
  }

  #unreadable(kv: KeyValue, what: string, remedy: string): void {
    const detail = `its value cannot be read as ${what}`;
    this.#tell({ kind: "malformed", level: "warning", subject: `key ${kv.key}`, detail, remedy });
  }

  #tell({ kind, level, subject, detail, remedy }: Problem): void {
    this.#tally.add({ kind, check: subject, level, detail, remedy });
  }
}

const AGAIN = "it says it again with its next run";

/** Tokens grow from run to run; where they do not, the entries are not in the order of grants. */
function isInTurn(earlier: PastRun, later: PastRun): boolean {
  return isNumber(earlier) && isNumber(later) && BigInt(earlier.token) < BigInt(later.token);
}

function isNumber({ token }: PastRun): boolean {
  return /^\d{1,19}$/.test(token);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
