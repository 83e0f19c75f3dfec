import type { Seconds, WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import { canonicalizeHost } from "../../core/base/text.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry, Ticket } from "../../core/protocol/ticket.ts";
import { compareMaps, type Execution, findNamedQueue, type NamedQueue, type Snapshot } from "./snapshot.ts";

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
/** By run: the queue of its only ticket, as most have one; else its claim. Objects for all claims would need 10 MB. */
const claims = new Map<string, NamedQueue | Claim>();
/** How many of these claims hold everything, and how many wait. */
const counts = { held: 0, waiting: 0 };
/** By host, as the tickets name it. */
const byHost = new Map<string, HostClaims>();
/** The claims whose first ticket is in a queue. A list stays the same object until one of its claims changes. */
let byQueue = new WeakMap<NamedQueue, readonly Claim[]>();

/**
 * Follows the claims of a snapshot, by run id. Cheap for a snapshot that follows the one before; a claim that `get` returns stays the same
 * object until one of its queues changes. Valid until the next call. A key put by hand without a run id is a claim under its last segment.
 */
export function followClaims({ queues }: Pick<Snapshot, "queues">): ClaimIndex {
  if (queues === known) return FOLLOWED_CLAIMS;
  const { gone, come } = compareMaps(known, queues);
  if (gone.length === known.size) {
    claims.clear(); // it is a snapshot of another site
    byHost.clear();
    byQueue = new WeakMap();
    Object.assign(counts, { held: 0, waiting: 0 });
    gone.length = 0;
  }
  const findEntry = createEntryFinder();
  for (const [, queue] of gone)
    for (const entry of queue.entries) replaceClaim({ queue, entry }, removeClaimEntry, findEntry);
  for (const [, queue] of come)
    for (const entry of queue.entries) replaceClaim({ queue, entry }, addClaimEntry, findEntry);
  for (const [host, own] of byHost) if (own.entries.size === 0) byHost.delete(host);
  known = queues;
  return FOLLOWED_CLAIMS;
}

type EntryFinder = (queue: NamedQueue, run: string) => QueueEntry;

/** Creates a function that finds the entry of a run that a queue has. Its index of each queue is not kept. */
function createEntryFinder(): EntryFinder {
  const index = memoize(({ entries }: NamedQueue) => new Map(entries.map((entry) => [entry.run, entry])));
  return (queue, run) => index(queue).get(run) as QueueEntry;
}

/** @param changed  the ticket that its queue has, or had */
function replaceClaim(
  changed: ClaimEntry,
  change: (entries: readonly ClaimEntry[], changed: ClaimEntry) => readonly ClaimEntry[],
  findEntry: EntryFinder,
): void {
  const { run } = changed.entry;
  const kept = claims.get(run);
  const isOnly = kept !== undefined && !isClaim(kept);
  const before = isOnly
    ? buildSingleClaim(kept, kept === changed.queue ? changed.entry : findEntry(kept, run))
    : kept;
  const entries = change(before?.entries ?? [], changed);
  const [only] = entries;
  if (before !== undefined) count(before, -1, before);
  if (only === undefined) claims.delete(run);
  else {
    const after = { run, entries };
    const stored = entries.length === 1 ? only.queue : after;
    count(after, 1, stored);
    claims.set(run, stored);
  }
  // The queue of its first ticket may be as before.
  for (const first of [before?.entries[0], only]) if (first !== undefined) byQueue.delete(first.queue);
}

function isClaim(kept: NamedQueue | Claim): kept is Claim {
  return "run" in kept;
}

function buildSingleClaim(queue: NamedQueue, entry: QueueEntry): Claim {
  return { run: entry.run, entries: [{ queue, entry }] };
}

/** Adds an entry in the order of keys, which is that of a read. */
function addClaimEntry(entries: readonly ClaimEntry[], added: ClaimEntry): readonly ClaimEntry[] {
  return [...entries, added].sort((a, b) => (a.entry.key < b.entry.key ? -1 : 1));
}

function removeClaimEntry(entries: readonly ClaimEntry[], { queue }: ClaimEntry): readonly ClaimEntry[] {
  return entries.filter((one) => one.queue !== queue);
}

/** Claims by run id. */
export interface ClaimIndex extends Iterable<readonly [run: string, claim: Claim]> {
  get(run: string): Claim | undefined;
  has(run: string): boolean;
  keys(): Iterable<string>;
  values(): Iterable<Claim>;
}

const FOLLOWED_CLAIMS: ClaimIndex = {
  get: (run) => {
    const kept = claims.get(run);
    if (kept === undefined || isClaim(kept)) return kept;
    return listFirstClaims(kept).find((claim) => claim.run === run);
  },
  has: (run) => claims.has(run),
  keys: () => claims.keys(),
  *values() {
    for (const queue of known.values()) yield* iterateFirstClaims(queue);
  },
  *[Symbol.iterator]() {
    for (const claim of this.values()) yield [claim.run, claim] as const;
  },
};

/** Counts a claim. Malformed tickets count as nothing. @param stored  as in `claims` */
function count(claim: Claim, by: 1 | -1, stored: NamedQueue | Claim): void {
  const first = findClaimTicket(claim);
  if (first === undefined) return;
  const state = isHolder(claim) ? "held" : "waiting";
  counts[state] += by;
  for (const { entry } of claim.entries) {
    const { ticket } = entry;
    if (ticket === undefined) continue;
    const host = byHost.get(ticket.host) ?? new HostClaims();
    byHost.set(ticket.host, host);
    host.count(entry, ticket, by, stored);
  }
  const host = byHost.get(first.host);
  if (host === undefined) return;
  host[state] += by;
  if (claim.entries.some(({ entry }) => entry.session !== 0n)) host.attached += by;
}

/** The tickets of a host, and what its claims add up to. */
class HostClaims {
  /** With what `claims` has of each: to look a hundred thousand runs up there takes a tenth of a second. */
  readonly entries = new Map<QueueEntry, NamedQueue | Claim>();
  /** Claims whose first readable ticket names the host: how many hold everything, how many wait, and how many of both have a session. */
  held = 0;
  waiting = 0;
  attached = 0;
  #last: WallTime = 0;
  /** Whether the ticket of `#last` is gone, and another one must be searched. */
  #isLastGone = false;
  /** How many tickets `countEnqueued` has counted, and how many are later, by their instant. */
  #window: { after: WallTime; until: WallTime; count: number; later: Map<WallTime, number> } | undefined;

  /** Adds a ticket of this host, or removes it. */
  count(entry: QueueEntry, ticket: Ticket, by: 1 | -1, stored: NamedQueue | Claim): void {
    this.#countInWindow(ticket.enqueuedAt, by);
    const at = getHeldSince(ticket);
    if (by === 1) {
      this.entries.set(entry, stored);
      if (at < this.#last) return;
      this.#last = at;
      this.#isLastGone = false;
    } else {
      this.entries.delete(entry);
      if (at === this.#last) this.#isLastGone = true;
    }
  }

  /** Lists the claims with a ticket of this host. */
  listClaims(): Claim[] {
    const [found, several] = [[] as Claim[], new Set<Claim>()];
    for (const [entry, stored] of this.entries) {
      if (!isClaim(stored)) found.push(buildSingleClaim(stored, entry));
      else if (!several.has(stored)) found.push(stored);
      if (isClaim(stored)) several.add(stored);
    }
    return found;
  }

  /** Finds when one of its tickets was last granted or enqueued. */
  findLastInstant(): WallTime {
    if (this.#isLastGone) {
      this.#last = 0;
      for (const ticket of this.#listTickets()) this.#last = Math.max(this.#last, getHeldSince(ticket));
      this.#isLastGone = false;
    }
    return this.#last;
  }

  *#listTickets(): Iterable<Ticket> {
    for (const { ticket } of this.entries.keys()) if (ticket !== undefined) yield ticket;
  }

  /** Counts its tickets that were enqueued after an instant, and not later than another one, which usually grows from call to call. */
  countEnqueued(after: WallTime, until: WallTime): number {
    if (this.#window?.after !== after || until < this.#window.until) {
      this.#window = { after, until, count: 0, later: new Map() };
      for (const { enqueuedAt } of this.#listTickets()) this.#countInWindow(enqueuedAt, 1);
    }
    const { later } = this.#window;
    this.#window.until = until;
    for (const [at, count] of later)
      if (at <= until) {
        this.#window.count += count;
        later.delete(at);
      }
    return this.#window.count;
  }

  #countInWindow(at: WallTime, by: 1 | -1): void {
    const window = this.#window;
    if (window === undefined || at <= window.after) return;
    if (at <= window.until) window.count += by;
    else {
      const count = (window.later.get(at) ?? 0) + by;
      if (count === 0) window.later.delete(at);
      else window.later.set(at, count);
    }
  }
}

/** Counts the runs that hold everything they claim, and the runs that wait. */
export function countRuns(snapshot: Pick<Snapshot, "queues">): { held: number; waiting: number } {
  followClaims(snapshot);
  return { ...counts };
}

/** Returns what claims each host has, as the tickets name it. Valid until the next call, as of `followClaims`. */
export function groupClaimsByHost(
  snapshot: Pick<Snapshot, "queues">,
): ReadonlyMap<string, Readonly<HostClaims>> {
  followClaims(snapshot);
  return byHost;
}

/**
 * Groups the claims of a snapshot by the queue of their first ticket; the last list has the tasks of workers without tickets. A list
 * without tasks stays the same object until one of its claims changes.
 */
export function groupRuns(snapshot: Pick<Snapshot, "queues" | "executions">): (readonly Claim[])[] {
  const all = followClaims(snapshot);
  const tasks = new Map(
    [...snapshot.executions.values()].flat().map((task) => [task.value?.run ?? task.key, task]),
  );
  const leased = new Set([...tasks.keys()].flatMap((run) => all.get(run)?.entries[0]?.queue ?? []));
  const addTask = (claim: Claim): Claim => {
    const task = tasks.get(claim.run);
    tasks.delete(claim.run);
    return task === undefined ? claim : { run: claim.run, entries: claim.entries, task };
  };
  const lists = Array.from(snapshot.queues.values(), (queue) => {
    const own = listFirstClaims(queue);
    return leased.has(queue) ? own.map(addTask) : own;
  });
  return [...lists, Array.from(tasks, ([run, task]) => ({ run, entries: [], task }))];
}

function listFirstClaims(queue: NamedQueue): readonly Claim[] {
  const known = byQueue.get(queue);
  if (known !== undefined) return known;
  const own = [...iterateFirstClaims(queue)];
  byQueue.set(queue, own);
  return own;
}

function* iterateFirstClaims(queue: NamedQueue): Generator<Claim> {
  for (const entry of queue.entries) {
    const kept = claims.get(entry.run);
    if (kept === queue) yield buildSingleClaim(queue, entry);
    else if (kept !== undefined && isClaim(kept) && kept.entries[0]?.entry === entry) yield kept;
  }
}

/** Lists the claims of a snapshot, and the tasks of workers without tickets. */
export function listRuns(snapshot: Pick<Snapshot, "queues" | "executions">): Claim[] {
  return groupRuns(snapshot).flat();
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
export function findClaimsByWord(claims: ClaimIndex, word: string): Claim[] {
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
