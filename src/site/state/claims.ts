import type { Seconds, WallTime } from "../../core/base/clock.ts";
import { canonicalizeHost } from "../../core/base/text.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry, Ticket } from "../../core/protocol/ticket.ts";
import { type Execution, findNamedQueue, type NamedQueue, type Snapshot } from "./snapshot.ts";

/** A queue entry with its queue. */
export interface ClaimEntry {
  queue: NamedQueue;
  entry: QueueEntry;
}

/** All queue entries of one run. */
export interface Claim {
  run: string;
  /** Empty for a task without leases. */
  entries: readonly ClaimEntry[];
  /** The occurrence that a worker runs. Only `listRuns` finds it. */
  task?: Execution;
  /** Set instead of `task` if the running key is missing. */
  lost?: LostTask;
}

/** A start of a schedule whose running key is missing: etcd has ended its worker's session, possibly before its time. */
interface LostTask {
  /** The schedule's id. */
  id: string;
  /** Time to live of the session, s. */
  ttl: Seconds;
}

// The claims of the last snapshot. Of the next one, only the queues that have changed are read: there may be a hundred thousand claims.
let known: Snapshot["queues"] = new Map();
const claims = new Map<string, Claim>();
/** How many of these claims hold everything, and how many wait. */
const counts = { held: 0, waiting: 0 };
/** The claims with a ticket of each host, as the tickets name it. */
const byHost = new Map<string, Set<Claim>>();

/**
 * Follows the claims of a snapshot, by run id. Cheap for a snapshot that follows the one before; a claim stays the same object until
 * one of its queues changes. Valid until the next call. A key put by hand without a run id is a claim under its last segment.
 */
export function followClaims({ queues }: Pick<Snapshot, "queues">): ReadonlyMap<string, Claim> {
  if (queues === known) return claims;
  const gone = [...known].flatMap(([id, queue]) => (queues.get(id) === queue ? [] : [queue]));
  if (gone.length === known.size) {
    claims.clear(); // it is a snapshot of another site
    byHost.clear();
    Object.assign(counts, { held: 0, waiting: 0 });
    gone.length = 0;
  }
  for (const left of gone)
    for (const { run } of left.entries)
      replaceClaim(run, (entries) => entries.filter(({ queue }) => queue !== left));
  for (const [id, queue] of queues)
    if (known.get(id) !== queue)
      for (const entry of queue.entries)
        replaceClaim(entry.run, (entries) => addClaimEntry(entries, { queue, entry }));
  for (const { entries } of gone)
    for (const { run } of entries) if (claims.get(run)?.entries.length === 0) claims.delete(run);
  known = queues;
  return claims;
}

function replaceClaim(run: string, change: (entries: readonly ClaimEntry[]) => readonly ClaimEntry[]): void {
  const before = claims.get(run);
  const entries = change(before?.entries ?? []);
  const [only] = entries;
  const after =
    only !== undefined && entries.length === 1 ? new SingleClaim(only.queue, only.entry) : { run, entries };
  if (before !== undefined) count(before, -1);
  count(after, 1);
  claims.set(run, after);
}

/** The claim of a run with one ticket, as most are. A hundred thousand lists of one would need 10 MB. */
class SingleClaim implements Claim, ClaimEntry {
  readonly queue: NamedQueue;
  readonly entry: QueueEntry;

  constructor(queue: NamedQueue, entry: QueueEntry) {
    this.queue = queue;
    this.entry = entry;
  }

  get run(): string {
    return this.entry.run;
  }

  get entries(): readonly ClaimEntry[] {
    return [this];
  }
}

/** Adds an entry in the order of keys, which is that of a read. */
function addClaimEntry(entries: readonly ClaimEntry[], added: ClaimEntry): readonly ClaimEntry[] {
  return [...entries, added].sort((a, b) => (a.entry.key < b.entry.key ? -1 : 1));
}

/** Counts a claim. Malformed tickets count as nothing. */
function count(claim: Claim, by: 1 | -1): void {
  if (findClaimTicket(claim) === undefined) return;
  counts[isHolder(claim) ? "held" : "waiting"] += by;
  for (const { entry } of claim.entries) {
    const { host } = entry.ticket ?? {};
    if (host === undefined) continue;
    const own = byHost.get(host) ?? new Set();
    if (by === 1) byHost.set(host, own.add(claim));
    else if (own.delete(claim) && own.size === 0) byHost.delete(host);
  }
}

/** Counts the runs that hold everything they claim, and the runs that wait. */
export function countRuns(snapshot: Pick<Snapshot, "queues">): { held: number; waiting: number } {
  followClaims(snapshot);
  return { ...counts };
}

/** Returns the claims with a ticket of each host, as the tickets name it. Valid until the next call, as of `followClaims`. */
export function groupClaimsByHost(
  snapshot: Pick<Snapshot, "queues">,
): ReadonlyMap<string, ReadonlySet<Claim>> {
  followClaims(snapshot);
  return byHost;
}

/** Lists the claims of a snapshot, then the tasks of workers without tickets. */
export function listRuns(snapshot: Pick<Snapshot, "queues" | "executions">): Claim[] {
  const tasks = new Map(
    [...snapshot.executions.values()].flat().map((task) => [task.value?.run ?? task.key, task]),
  );
  const runs = Array.from(followClaims(snapshot).values(), (claim) => {
    const task = tasks.get(claim.run);
    tasks.delete(claim.run);
    return task === undefined ? claim : { run: claim.run, entries: claim.entries, task };
  });
  for (const [run, task] of tasks) runs.push({ run, entries: [], task });
  return runs;
}

/** Returns the claims of a snapshot by run id, in a map of its own, which stays valid when another snapshot is followed. */
export function buildClaims(snapshot: Pick<Snapshot, "queues">): Map<string, Claim> {
  return new Map(followClaims(snapshot));
}

/** Finds the claim of one run. */
export function findClaim(snapshot: Pick<Snapshot, "queues">, run: string): Claim | undefined {
  return followClaims(snapshot).get(run);
}

/** Whether a claim is granted: all its tickets are held or in grace. */
export function isHolder({ entries }: Claim): boolean {
  return entries.every(({ entry }) => isHolding(entry));
}

/** Returns the first ticket of a run that can be read. All its tickets state the same host, process and command. */
export function findClaimTicket({ entries }: Claim): Ticket | undefined {
  return entries.find(({ entry }) => entry.ticket !== undefined)?.entry.ticket;
}

/** Returns the canonical host name of a claim; undefined if none of its tickets can be read. */
export function findClaimHost(claim: Claim): string | undefined {
  const host = findClaimTicket(claim)?.host;
  return host === undefined ? undefined : canonicalizeHost(host);
}

/** Compares two claims by their first tickets: who claimed earlier comes first. */
export function compareClaims(a: Claim, b: Claim): number {
  const [first, second] = [findFirstRevision(a), findFirstRevision(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function findFirstRevision({ entries }: Claim): bigint {
  return entries.reduce(
    (least, { entry }) => (entry.createRevision < least ? entry.createRevision : least),
    1n << 63n,
  );
}

/** Finds the claims that match a word: a run id, its first characters (at least 4), or `HOST:PID`. */
export function findClaimsByWord(claims: ReadonlyMap<string, Claim>, word: string): Claim[] {
  const exact = claims.get(word);
  if (exact !== undefined) return [exact];
  const isMatch = ({ run, entries }: Claim) =>
    (word.length >= 4 && run.startsWith(word)) ||
    entries.some(({ entry: { ticket } }) => ticket !== undefined && `${ticket.host}:${ticket.pid}` === word);
  return [...claims.values()].filter(isMatch);
}

/** Returns the state of a ticket, or `malformed` if it cannot be read. */
export function getEntryState({ ticket }: QueueEntry): Ticket["state"] | "malformed" {
  return ticket?.state ?? "malformed";
}

/** Returns when a run was granted, or else enqueued. */
export function getHeldSince(ticket: Ticket): WallTime;
export function getHeldSince(ticket: Ticket | undefined): number | undefined;
export function getHeldSince(ticket: Ticket | undefined): number | undefined {
  return ticket?.grantedAt ?? ticket?.enqueuedAt;
}

/**
 * Finds the queue entries that a reset of a lock or resource applies to: the holders, and tickets that cannot be read.
 * If there are none, the admitted run of a lock that still waits for its leases. With `run`, the entry of that run in
 * any state.
 */
export function findResetTargets(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  run?: string,
): readonly QueueEntry[] {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  if (run !== undefined) return entries.filter((entry) => entry.run === run);
  const holding = entries.filter((entry) => isHolding(entry) || entry.ticket === undefined);
  if (holding.length > 0) return holding;
  return entries.filter(({ ticket }) => kind === "lock" && ticket?.state === "admitted");
}
