import type { WallTime } from "../base/clock.ts";
import type { Drain } from "../protocol/drain.ts";
import {
  buildGrantTxn,
  buildJoinTxn,
  buildTicketClaimTxn,
  deleteEntries,
  guardUnchanged,
  type NewTicket,
  putTickets,
  type ReadBasis,
  rewriteTickets,
} from "../protocol/guards.ts";
import type { MarkedSession, QueueEntry } from "../protocol/ticket.ts";
import {
  findFirstKey,
  type KeyValue,
  type Op,
  type Txn,
  type TxnResponse,
  type WatchRequest,
} from "../protocol/txn.ts";
import { buildLockTickets, buildResourceTickets, type ClaimAttempt } from "./attempt.ts";
import type { ResourceTotal } from "./eligibility.ts";
import type { ClaimRequest } from "./request.ts";

/** The next step of an attempt. */
export type ClaimStep =
  /** No ticket of this run exists: put the whole claim, or, when queueing, at least the tickets for the locks. */
  | { kind: "claim"; basis: ReadBasis; totals: readonly ResourceTotal[] }
  /** The locks are available to this run: put the resource tickets. */
  | { kind: "join"; basis: ReadBasis; totals: readonly ResourceTotal[]; locks: readonly QueueEntry[] }
  | { kind: "grant"; basis: ReadBasis; entries: readonly QueueEntry[] }
  /** The claim is already granted; the answer was lost. */
  | { kind: "granted"; entries: readonly QueueEntry[] }
  /** Tell the runs behind that these entries are admitted, although the claim waits in another queue. */
  | { kind: "announce"; entries: readonly QueueEntry[] }
  /** Delete expired grace tickets, tickets of earlier attempts of the same call, and marks whose time has passed. */
  | { kind: "sweep"; entries: readonly QueueEntry[] }
  /** Read the whole queues of the resources. */
  | { kind: "closer" }
  /**
   * `until`: when an obstacle ends by itself. `depth`: how many entries of the resource queues to read
   * if no event arrives for a while. `next`: set if the claim waits only for the ticket ahead.
   */
  | {
      kind: "wait";
      ranges: WatchRequest["ranges"];
      until: WallTime | undefined;
      depth: number;
      why: string;
      next?: NextGrant | undefined;
    }
  | { kind: "leave"; refusal: ClaimRefusal };

/** The grant of a claim once the ticket ahead is gone. */
export interface NextGrant {
  ahead: QueueEntry;
  basis: ReadBasis;
  entries: readonly QueueEntry[];
}

/** Why an attempt ended without a grant. */
export type ClaimRefusal =
  | { kind: "busy"; lock?: string | undefined; holder: QueueEntry | undefined }
  | { kind: "drained"; drains: readonly Drain[] }
  | { kind: "outside"; group: string }
  | { kind: "timeout"; why: string }
  /** An operator removed this waiter. */
  | { kind: "evicted"; by: string }
  /** This run's tickets are missing, or no longer form one claim. */
  | { kind: "gone" }
  /** The session expired, or may have expired; a new attempt is possible. */
  | { kind: "lapsed" }
  /** A condition on the host does not hold. */
  | { kind: "unmet"; why: string };

/** The position of a claim in one resource's queue. */
export interface ResourcePosition {
  resource: string;
  count: number;
  total: number;
  /** `unsure`: not enough of the queue was read. */
  admission: "admitted" | "waiting" | "unsure";
  ahead: QueueEntry | undefined;
  /** Vanished tickets in the part of the queue that was read, without `ahead`. */
  vanished: readonly QueueEntry[];
}

/** A step as a transaction, and the meaning of its success. */
export interface StepTransaction {
  txn: Txn;
  /** On success, the claim is held, and this reads what was put and read. Undefined: the next read shows the effect. */
  readGrant?(answer: TxnResponse): StepGrant;
  /** Whether only the tickets of the locks were put, behind others. */
  hasQueuedUp?(answer: TxnResponse): boolean;
}

/** The result of the transaction that granted a claim. */
export interface StepGrant {
  entries: readonly QueueEntry[];
  /** The history of each lock at the time of the grant; undefined when they were not read. */
  histories: readonly (KeyValue | undefined)[] | undefined;
}

/** A claim that is held. The queue entries of the locks are its first entries. */
export interface Grant extends StepGrant {
  attempt: ClaimAttempt;
  /** Wall clock, ms since the epoch. */
  grantedAt: WallTime;
}

type WritingStep = Extract<ClaimStep, { kind: "claim" | "join" | "grant" | "announce" | "sweep" }>;

/** Builds the transaction of a step. */
export function buildStepTransaction(
  attempt: ClaimAttempt,
  step: WritingStep,
  wall: WallTime,
): StepTransaction {
  switch (step.kind) {
    case "claim":
      return buildClaim(attempt, step, wall);
    case "join":
      return buildJoin(attempt, step);
    case "grant":
      return buildGrant(attempt, step, wall);
    case "announce":
      return buildAnnouncement(attempt, step.entries);
    case "sweep":
      return buildSweep(attempt, step.entries);
  }
}

type StepOf<K extends ClaimStep["kind"]> = Extract<ClaimStep, { kind: K }>;

/**
 * Whether the claim may put the tickets for its locks behind others. A run that does not wait does so if the runs ahead
 * share the lock, and leaves if a run that does not share it was faster.
 */
export function canJoinQueue({ waitLimits, isShared }: ClaimRequest): boolean {
  return waitLimits.queues || isShared === true;
}

/** Puts all tickets if the queues of the locks are empty. Without leases, this is already the grant. */
function buildClaim(attempt: ClaimAttempt, step: StepOf<"claim">, wall: WallTime): StepTransaction {
  const { basis, totals } = step;
  const { request } = attempt;
  const session = attempt.session.id;
  const grants = totals.length === 0;
  const locks = grants ? buildLockTickets(attempt, "held", wall) : buildLockTickets(attempt, "admitted");
  const newTickets = [...locks, ...buildResourceTickets(attempt, totals, "waiting")];
  const queues = canJoinQueue(request) && locks.length > 0;
  const failure: Op[] = queues ? [{ op: "txn", txn: buildQueueUp(attempt, basis) }] : [];
  const reads = grants ? buildHistoryReads(attempt) : [];
  const marked = grants ? getMarkedSession(attempt) : undefined;
  const claim = { locks: request.locks, tickets: newTickets, session, marked, basis, reads, failure };
  const txn = buildTicketClaimTxn(attempt.ports.keys, claim);
  return {
    txn,
    ...(grants && { readGrant: createGrantReader(claim, []) }),
    ...(queues && { hasQueuedUp }),
  };
}

/**
 * Puts only the tickets of the locks, behind the entries in their queues: a run must not reserve units while it waits
 * for a lock.
 */
function buildQueueUp(attempt: ClaimAttempt, basis: ReadBasis): Txn {
  const tickets = buildLockTickets(attempt, "waiting");
  const session = attempt.session.id;
  return buildJoinTxn(attempt.ports.keys, { tickets, session, basis, after: [], changed: [] });
}

/** Reads whether a claim that may queue has put the tickets of its locks only. Their `create_revision` is that of the answer. */
function hasQueuedUp({ succeeded, results: [queueUp] }: TxnResponse): boolean {
  return !succeeded && queueUp?.op === "txn" && queueUp.succeeded;
}

function buildJoin(attempt: ClaimAttempt, { basis, totals, locks }: StepOf<"join">): StepTransaction {
  const tickets = buildResourceTickets(attempt, totals, "waiting");
  const changed = rewriteTickets(locks, { state: "admitted" });
  const session = attempt.session.id;
  return { txn: buildJoinTxn(attempt.ports.keys, { tickets, session, basis, after: locks, changed }) };
}

function buildGrant(
  attempt: ClaimAttempt,
  { entries, basis }: StepOf<"grant">,
  wall: WallTime,
): StepTransaction {
  const session = attempt.session.id;
  const tickets = rewriteTickets(entries, { state: "held", grantedAt: wall });
  const reads = buildHistoryReads(attempt);
  const marked = getMarkedSession(attempt);
  const grant = { entries, tickets, session, marked, basis, reads };
  return { txn: buildGrantTxn(attempt.ports.keys, grant), readGrant: createGrantReader(grant, entries) };
}

/** Marks entries as admitted. This is a hint for the runs behind: if it is lost, their next read shows it. */
function buildAnnouncement(attempt: ClaimAttempt, entries: readonly QueueEntry[]): StepTransaction {
  const puts = putTickets(rewriteTickets(entries, { state: "admitted" }), attempt.session.id);
  return { txn: { compare: guardUnchanged(entries), success: puts, failure: [] } };
}

function buildSweep({ ports: { keys } }: ClaimAttempt, entries: readonly QueueEntry[]): StepTransaction {
  const success = deleteEntries(keys, entries);
  return { txn: { compare: guardUnchanged(entries), success, failure: [] } };
}

function getMarkedSession({ session: { ttl, grantTerm } }: ClaimAttempt): MarkedSession {
  return { ttl: Math.ceil(ttl / 1000), term: grantTerm };
}

/** Reads the histories with the grant, so that the transaction that frees the locks can append to them. */
function buildHistoryReads({ ports, request }: ClaimAttempt): Op[] {
  if (!request.history) return [];
  return request.locks.map((lock) => ({ op: "range", key: ports.keys.history(lock) }));
}

/**
 * Creates a function that parses the response to a granting transaction: the queue entries that it put, and the histories,
 * which are its last reads. Operations that are not reads may follow them, as the write of the host record does.
 * @param found  the existing entries that the tickets replace
 */
function createGrantReader(
  { tickets, session, reads }: { tickets: readonly NewTicket[]; session: bigint; reads: readonly Op[] },
  found: readonly QueueEntry[],
): (answer: TxnResponse) => StepGrant {
  return ({ revision, results }) => ({
    entries: tickets.map(({ key, ticket }) => ({
      key,
      run: ticket.run,
      ticket,
      createRevision: found.find((entry) => entry.key === key)?.createRevision ?? revision,
      modRevision: revision,
      session,
    })),
    histories:
      reads.length === 0
        ? undefined
        : results
            .filter(({ op }) => op === "range")
            .slice(-reads.length)
            .map(findFirstKey),
  });
}
