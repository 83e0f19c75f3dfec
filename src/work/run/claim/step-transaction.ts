import {
  buildGrantTxn,
  buildJoinTxn,
  buildTicketClaimTxn,
  guardUnchanged,
  type NewTicket,
  putTickets,
  type ReadBasis,
  rewriteTickets,
} from "../../../protocol/guards.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import type { Op, Txn } from "../../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "../request.ts";
import { buildLockTicket, buildResourceTickets, type ClaimAttempt } from "./attempt.ts";
import type { ClaimStep } from "./step.ts";

/** A step as a transaction, and the meaning of its success. */
export interface StepTransaction {
  txn: Txn;
  /** On success, the claim is held. */
  grants: boolean;
  /** The tickets to put. `found` contains the existing entries that they replace. */
  newTickets: readonly NewTicket[];
  found: readonly QueueEntry[];
  session: bigint;
  /** The last read on success is the lock's history. */
  readsHistory: boolean;
}

type WritingStep = Extract<ClaimStep, { kind: "claim" | "join" | "grant" | "mark" | "sweep" }>;

/** Builds the transaction of a step. @param wall  wall clock, ms since the epoch */
export function buildStepTransaction(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: ClaimAttempt,
  step: WritingStep,
  wall: number,
): StepTransaction {
  switch (step.kind) {
    case "claim":
      return buildClaim(ports, request, attempt, step, wall);
    case "join":
      return buildJoin(ports, request, attempt, step);
    case "grant":
      return buildGrant(ports, request, attempt, step, wall);
    case "mark":
      return buildMark(attempt, step.places);
    case "sweep":
      return buildSweep(step.places);
  }
}

type StepOf<K extends ClaimStep["kind"]> = Extract<ClaimStep, { kind: K }>;

/** Puts all tickets if the lock's queue is empty. Without leases, this is already the grant. */
function buildClaim(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: ClaimAttempt,
  { basis, totals }: StepOf<"claim">,
  wall: number,
): StepTransaction {
  const { keys } = ports;
  const session = attempt.session.id;
  const grants = totals.length === 0;
  const lock = grants
    ? buildLockTicket(request, attempt, "held", wall)
    : buildLockTicket(request, attempt, "admitted");
  const stakes = [...lock, ...buildResourceTickets(keys, request, attempt, totals, "waiting")];
  const queues = request.patience.queues && lock.length > 0;
  const failure: Op[] = queues ? [{ op: "txn", txn: buildQueueUp(ports, request, attempt, basis) }] : [];
  const reads = grants ? buildHistoryReads(ports, request) : [];
  const txn = buildTicketClaimTxn(keys, {
    lock: request.lock,
    tickets: stakes,
    session,
    basis,
    reads,
    failure,
  });
  return { txn, grants, newTickets: stakes, found: [], session, readsHistory: reads.length > 0 };
}

/**
 * Puts only the lock's ticket, behind the entries in the queue: a run must not reserve units while it waits for a lock.
 */
function buildQueueUp(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: ClaimAttempt,
  basis: ReadBasis,
): Txn {
  const stakes = buildLockTicket(request, attempt, "waiting");
  return buildJoinTxn(ports.keys, {
    tickets: stakes,
    session: attempt.session.id,
    basis,
    after: [],
    mark: [],
  });
}

function buildJoin(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: ClaimAttempt,
  step: StepOf<"join">,
): StepTransaction {
  const { basis, totals, lock } = step;
  const stakes = buildResourceTickets(ports.keys, request, attempt, totals, "waiting");
  const mark = rewriteTickets([lock], { state: "admitted" });
  const session = attempt.session.id;
  return buildWrite(buildJoinTxn(ports.keys, { tickets: stakes, session, basis, after: [lock], mark }));
}

function buildGrant(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: ClaimAttempt,
  { places, basis }: StepOf<"grant">,
  wall: number,
): StepTransaction {
  const session = attempt.session.id;
  const stakes = rewriteTickets(places, { state: "held", grantedAt: wall });
  const reads = buildHistoryReads(ports, request);
  const txn = buildGrantTxn(ports.keys, { entries: places, tickets: stakes, session, basis, reads });
  return { txn, grants: true, newTickets: stakes, found: places, session, readsHistory: reads.length > 0 };
}

/** A hint for the entries behind. If it is lost, they find out at their next read. */
function buildMark(attempt: ClaimAttempt, places: readonly QueueEntry[]): StepTransaction {
  const puts = putTickets(rewriteTickets(places, { state: "admitted" }), attempt.session.id);
  return buildWrite({ compare: guardUnchanged(places), success: puts, failure: [] });
}

function buildSweep(places: readonly QueueEntry[]): StepTransaction {
  const success = places.map(({ key }): Op => ({ op: "delete", key }));
  return buildWrite({ compare: guardUnchanged(places), success, failure: [] });
}

/** Builds a transaction that grants nothing; the next read shows its effect. */
function buildWrite(txn: Txn): StepTransaction {
  return { txn, grants: false, newTickets: [], found: [], session: 0n, readsHistory: false };
}

/** Reads the history with the grant, so that the transaction that frees the lock can append to it. */
function buildHistoryReads(ports: ClaimPorts, request: ClaimRequest): Op[] {
  if (!request.history || request.lock === undefined) return [];
  return [{ op: "range", key: ports.keys.history(request.lock) }];
}
