import { isHolding } from "../protocol/admission.ts";
import type { Keys } from "../protocol/keys.ts";
import { compareByClaim, type Queue, type QueueEntry, toQueue, toQueueEntry } from "../protocol/ticket.ts";
import { type KeyRange, listKeyValues, type Op, type OpResult, type WatchEvent } from "../protocol/txn.ts";
import { type ClaimAttempt, listOwnKeys } from "./attempt.ts";
import { buildInputReads, type ClaimInputs, EMPTY_INPUTS, parseClaimInputs } from "./eligibility.ts";
import type { ClaimRequest } from "./request.ts";
import type { RemovalTimes, VanishedTickets } from "./vanished-tickets.ts";

/** All inputs for the next step of an attempt, read at one revision. */
export interface ClaimView {
  revision: bigint;
  /** This run's tickets that exist, by key. */
  own: ReadonlyMap<string, QueueEntry>;
  inputs: ClaimInputs;
  /** By the keys of this run's tickets in them. */
  lockQueues: ReadonlyMap<string, LockQueueView>;
  resourceQueues: ReadonlyMap<string, ResourceQueueView>;
  /** When the marks of vanished tickets may be removed, by their keys. */
  removals: RemovalTimes;
  /** The stored record of this host; undefined when it was not read. */
  host: { text: string | undefined } | undefined;
}

/** The part of a lock's queue that was read. */
export interface LockQueueView {
  /**
   * This run's entry and the entry directly ahead, or several if the run shares the lock; the first few entries while the
   * run is not in the queue. Includes the tickets that have certainly vanished.
   */
  queue: Queue;
  /** Whether the queue has tickets ahead of this run's that were not read. */
  hasMoreAhead: boolean;
  /** Whether the entry directly ahead of this run's was read. Otherwise there may be others in between. */
  isAheadKnown: boolean;
}

/** The `create_revision` of this run's tickets, as far as they were read. The tickets for all locks share one. */
export interface OwnTicketRevisions {
  lock: bigint | undefined;
  resources: bigint | undefined;
}

/** A view that assumes an empty store. When the assumption is wrong, the claim transaction fails. */
export const EMPTY_CLAIM_VIEW: ClaimView = {
  revision: 0n,
  own: new Map(),
  inputs: EMPTY_INPUTS,
  lockQueues: new Map(),
  resourceQueues: new Map(),
  removals: new Map(),
  host: undefined,
};

/**
 * Reads a view in one linearizable transaction that writes nothing.
 * @param options.revisions  revisions of this run's tickets, from the last read
 * @param options.depth  how many of the first entries of each resource queue to read, besides the one directly ahead of this
 * run's; Infinity for whole queues, including that of a shared lock
 * @param options.host  the key of this host's record; undefined when the record is not needed
 * @param options.vanished  the vanished tickets that were read before
 * @param options.ahead  as found in the last view. As long as these tickets exist, only they are read of the locks' queues, and once
 * more when they are gone: a second transaction follows only if other tickets may be ahead then.
 */
export async function readClaimView(
  attempt: ClaimAttempt,
  options: {
    revisions: OwnTicketRevisions;
    depth: number;
    host: string | undefined;
    vanished: VanishedTickets;
    ahead?: TicketsAhead;
  },
  signal: AbortSignal,
): Promise<ClaimView> {
  const { revisions, depth, ahead = NOBODY_AHEAD } = options;
  const { ports, request } = attempt;
  const { keys } = ports;
  const own = listOwnKeys(attempt).map((key): Op => ({ op: "range", key }));
  const inputReads = buildInputReads(keys, request);
  const locks = request.locks.map((name, index) => {
    const known = ahead.get(attempt.lockKeys[index] ?? "");
    return buildLockReads(keys, { name, isShared: request.isShared, known }, revisions.lock, depth);
  });
  const queues = request.leases.map(({ resource }) =>
    buildResourceReads(keys, resource, revisions.resources, depth),
  );
  const success: Op[] = [
    ...own,
    ...inputReads,
    ...locks.flat(),
    ...queues.flat(),
    ...(options.host === undefined ? [] : [{ op: "range", key: options.host } as const]),
  ];
  const answer = await ports.store.commitTxn({ compare: [], success, failure: [] }, signal);
  const results = [...answer.results];
  const take = (reads: readonly Op[]) => results.splice(0, reads.length);
  const ownEntries = new Map(
    take(own)
      .flatMap(listKeyValues)
      .map(toQueueEntry)
      .map((entry) => [entry.key, entry]),
  );
  const inputs = parseClaimInputs(keys, answer.revision, take(inputReads));
  const lockViews: [string, LockQueueView][] = [];
  for (const [index, key] of attempt.lockKeys.entries()) {
    const results = take(locks[index] ?? []);
    const [own, known] = [ownEntries.get(key), ahead.get(key)];
    const view = known ? parseTicketAhead(results, own, known) : parseLockQueue(results, own, revisions.lock);
    if (view === undefined) return readClaimView(attempt, { ...options, ahead: NOBODY_AHEAD }, signal);
    lockViews.push([key, view]);
  }
  const views = request.leases.map(({ resource }, index): [string, ResourceQueueView] => {
    const own = ownEntries.get(attempt.resourceKeys[index] ?? "");
    return [resource, parseResourceQueue(take(queues[index] ?? []), own, depth)];
  });
  const entries = [...lockViews, ...views].flatMap(([, { queue }]) => queue);
  return {
    revision: answer.revision,
    own: ownEntries,
    inputs,
    lockQueues: new Map(lockViews),
    resourceQueues: new Map(views),
    removals: options.vanished.update(entries, answer.raftTerm),
    host: options.host === undefined ? undefined : { text: results.flatMap(listKeyValues)[0]?.value },
  };
}

/** What the last read of a lock's queue has shown ahead of this run's ticket. */
interface TicketAhead {
  entry: QueueEntry;
  /** Whether it is certain that nobody is ahead of it. */
  isFirst: boolean;
}

/**
 * By the keys of this run's tickets. To find the ticket ahead, etcd visits the whole queue: if all runs that wait did that again and
 * again, a few thousand of them would take all of its time.
 */
export type TicketsAhead = ReadonlyMap<string, TicketAhead>;
export const NOBODY_AHEAD: TicketsAhead = new Map();

/** Finds the tickets ahead that can be read by their keys next time. */
export function findTicketsAhead({ isShared }: ClaimRequest, { lockQueues }: ClaimView): TicketsAhead {
  if (isShared) return NOBODY_AHEAD; // several of those ahead matter
  const found = new Map<string, TicketAhead>();
  for (const [key, { queue, hasMoreAhead, isAheadKnown }] of lockQueues) {
    const place = queue.findIndex((one) => one.key === key);
    const entry = queue[place - 1];
    if (isAheadKnown && entry !== undefined) found.set(key, { entry, isFirst: !hasMoreAhead && place === 1 });
  }
  return found;
}

/** Whether a ticket holds its lock alone. Then nobody is ahead of it: new tickets queue behind. */
function holdsAlone(entry: QueueEntry | undefined): boolean {
  return isHolding(entry) && entry?.ticket?.shared !== true;
}

/**
 * Applies events that say only that runs ahead were granted their locks. They need no other step.
 * @returns undefined if something else has happened
 */
export function applyGrantsAhead(
  ahead: TicketsAhead,
  events: readonly WatchEvent[],
): TicketsAhead | undefined {
  const applied = new Map(ahead);
  for (const event of events) {
    const entry = event.type === "put" ? toQueueEntry(event.kv) : undefined;
    const own = [...ahead.keys()].find((key) => ahead.get(key)?.entry.key === entry?.key);
    // A grace ends by itself, so it needs another step.
    if (entry === undefined || own === undefined || entry.ticket?.state === "grace" || !holdsAlone(entry))
      return undefined;
    applied.set(own, { entry, isFirst: true });
  }
  return applied;
}

/**
 * Parses the results of `buildLockReads` for a known ticket ahead.
 * @returns undefined if the ticket is gone, and others may be ahead
 */
function parseTicketAhead(
  [ticket, marks]: readonly OpResult[],
  ownEntry: QueueEntry | undefined,
  known: TicketAhead,
): LockQueueView | undefined {
  const read = parseQueue(ticket);
  const [ahead] = read;
  const { createRevision } = known.entry;
  const isSame = ahead?.createRevision === createRevision;
  if (ownEntry === undefined || !(isSame || (ahead === undefined && known.isFirst))) return undefined;
  const hasMoreAhead = !known.isFirst && !holdsAlone(ahead);
  const covered = { from: hasMoreAhead ? createRevision : 0n, to: ownEntry.createRevision };
  return { queue: addVanished([...read, ownEntry], marks, covered), hasMoreAhead, isAheadKnown: true };
}

/** The part of a resource's queue that was read, including this run's entry. */
export interface ResourceQueueView {
  /**
   * `near`: only the entry directly ahead. `head`: also the first entries, up to this run's. `whole`: the whole queue.
   */
  reach: "near" | "head" | "whole";
  queue: Queue;
  /** The entry directly ahead of this run's. */
  ahead: QueueEntry | undefined;
}

/** How many entries of a lock's queue a run reads while it is not in the queue: enough to report the holder. */
const FIRST_ENTRIES = 8;
/**
 * How many tickets ahead of its own a run reads if it shares the lock. The runs ahead usually share it too, and then all
 * of them are granted at once: they must not each read the whole queue.
 */
const SHARED_READ_AHEAD = 64;
/** Largest number of entries to read from the head of a queue. If they do not decide, the whole queue is read. */
const MAX_HEAD_ENTRIES = 1_000;

/**
 * Returns how many of the first entries usually decide whether a run must wait: twice as many as fit at once if all
 * request the same count. This avoids reading queues of tens of thousands of entries.
 */
export function computeHeadSize({ count, total }: { count: number; total: number }): number {
  return Math.min(MAX_HEAD_ENTRIES, 2 * Math.ceil(total / count) + 16);
}

/**
 * Builds the reads of a lock's queue: the ticket directly ahead of this run's, or several if the lock is shared, or the
 * first few while the run is not in the queue; and the marks. A ticket ahead that is known is read by its key.
 * @param before  `create_revision` of this run's ticket; undefined while not in the queue
 * @param depth  Infinity for all tickets ahead, if the lock is shared
 */
function buildLockReads(
  keys: Keys,
  { name, isShared, known }: { name: string; isShared: boolean | undefined; known: TicketAhead | undefined },
  before: bigint | undefined,
  depth: number,
): Op[] {
  const { tickets, marks } = keys.getTicketAndMarkRanges("lock", name);
  const limit = !isShared ? 1 : depth === Number.POSITIVE_INFINITY ? undefined : SHARED_READ_AHEAD;
  const read: Op =
    known !== undefined
      ? { op: "range", key: known.entry.key }
      : before === undefined
        ? buildOrderedRead(tickets, isShared ? SHARED_READ_AHEAD : FIRST_ENTRIES)
        : buildReadBefore(tickets, before, limit);
  return [read, { op: "range", ...marks }];
}

/**
 * Builds the reads of a resource's queue.
 * @param before  `create_revision` of this run's ticket; undefined while not in the queue
 * @param depth  how many of the first entries to read, besides the one directly ahead; Infinity for all
 */
export function buildResourceReads(
  keys: Keys,
  name: string,
  before: bigint | undefined,
  depth: number,
): Op[] {
  const { tickets, marks } = keys.getTicketAndMarkRanges("resource", name);
  if (depth === Number.POSITIVE_INFINITY) return [buildOrderedRead(keys.getQueueRange("resource", name))];
  if (before === undefined) return [buildOrderedRead(tickets, 1)];
  const ahead = buildReadBefore(tickets, before, 1);
  if (depth <= 0) return [ahead];
  const head: Op = { ...buildOrderedRead(tickets, depth), maxCreateRevision: before };
  return [ahead, head, { op: "range", ...marks }];
}

type RangeOperation = Extract<Op, { op: "range" }>;

function buildOrderedRead(queue: KeyRange, limit?: number): RangeOperation {
  const sort = { by: "create", order: "ascend" } as const;
  return { op: "range", ...queue, sort, ...(limit !== undefined && { limit }) };
}

/** Builds the read of the entries before a revision, nearest first. @param limit  how many; undefined for all */
function buildReadBefore(queue: KeyRange, before: bigint, limit: number | undefined): RangeOperation {
  const sort = { by: "create", order: "descend" } as const;
  const maxCreateRevision = before - 1n;
  return { op: "range", ...queue, sort, maxCreateRevision, ...(limit !== undefined && { limit }) };
}

/**
 * Parses the results of `buildLockReads`, and appends this run's entry if the read did not include it.
 * @param before  `create_revision` of this run's ticket that was known at the read
 */
function parseLockQueue(
  [tickets, marks]: readonly OpResult[],
  ownEntry: QueueEntry | undefined,
  before: bigint | undefined,
): LockQueueView {
  const read = parseQueue(tickets);
  const first = read[0]?.createRevision ?? 0n;
  const isCut = hasMoreAhead(tickets, ownEntry);
  const covered =
    before === undefined
      ? { from: 0n, to: findLastRead(tickets, read, MAX_REVISION) }
      : { from: isCut ? first : 0n, to: before };
  return {
    queue: addVanished(appendOwnEntry(read, ownEntry), marks, covered),
    hasMoreAhead: isCut,
    isAheadKnown: ownEntry !== undefined && isAheadRead(tickets, before, ownEntry),
  };
}

const MAX_REVISION = 1n << 63n;

/**
 * Returns the `create_revision` up to which a read in the order of the claims is complete.
 * @param limit  the largest `create_revision` that was requested
 */
function findLastRead(result: OpResult | undefined, read: Queue, limit: bigint): bigint {
  const isCut = result?.op === "range" && result.more;
  return isCut ? (read.at(-1)?.createRevision ?? 0n) : limit;
}

/**
 * Adds the marks whose tickets have vanished. Only the tickets within `covered` were all read: outside of it, the ticket
 * of a mark may exist, so such marks are left out.
 */
function addVanished(read: Queue, marks: OpResult | undefined, covered: { from: bigint; to: bigint }): Queue {
  const runs = new Set(read.map(({ run }) => run));
  const vanished = listKeyValues(marks)
    .map(toQueueEntry)
    .filter(({ run, createRevision: at }) => !runs.has(run) && at >= covered.from && at <= covered.to);
  return vanished.length === 0 ? read : [...read, ...vanished].sort(compareByClaim);
}

/** Whether the first result of `buildLockReads` leaves out tickets ahead of this run's. */
function hasMoreAhead(result: OpResult | undefined, ownEntry: QueueEntry | undefined): boolean {
  if (result?.op !== "range") return false;
  return result.more && !result.kvs.some(({ key }) => key === ownEntry?.key);
}

/**
 * Whether the first result of `buildLockReads` contains the entry directly ahead of this run's, if there is one: either
 * that entry was requested, or this run's entry is among the first few.
 * @param before  `create_revision` of this run's ticket that was known at the read
 */
function isAheadRead(
  result: OpResult | undefined,
  before: bigint | undefined,
  ownEntry: QueueEntry,
): boolean {
  return before === ownEntry.createRevision || listKeyValues(result).some(({ key }) => key === ownEntry.key);
}

/** Parses the results of `buildResourceReads`. @param ownEntry  this run's entry, if any */
export function parseResourceQueue(
  results: readonly OpResult[],
  ownEntry: QueueEntry | undefined,
  depth: number,
): ResourceQueueView {
  const [first, head, marks] = results;
  const entries = parseQueue(first);
  if (depth === Number.POSITIVE_INFINITY) {
    const own = entries.findIndex(({ key }) => key === ownEntry?.key);
    return { reach: "whole", queue: appendOwnEntry(entries, ownEntry), ahead: entries[own - 1] };
  }
  const ahead = entries.find(({ key }) => key !== ownEntry?.key);
  if (head === undefined) return { reach: "near", queue: appendOwnEntry(entries, ownEntry), ahead };
  const read = parseQueue(head);
  const covered = { from: 0n, to: findLastRead(head, read, ownEntry?.createRevision ?? 0n) };
  return { reach: "head", queue: addVanished(appendOwnEntry(read, ownEntry), marks, covered), ahead };
}

function appendOwnEntry(queue: Queue, ownEntry: QueueEntry | undefined): Queue {
  const isSeen = ownEntry === undefined || queue.some(({ key }) => key === ownEntry.key);
  return isSeen ? queue : [...queue, ownEntry];
}

function parseQueue(result: OpResult | undefined): Queue {
  return toQueue(listKeyValues(result));
}
