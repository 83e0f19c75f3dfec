import {
  type Basis,
  claimTxn,
  grantTxn,
  joinTxn,
  putTickets,
  rewritten,
  type Stake,
  untouched,
} from "../../protocol/guards.ts";
import type { Place } from "../../protocol/ticket.ts";
import type { Op, Txn } from "../../protocol/txn.ts";
import { type Attempt, lockStake, resourceStakes } from "./attempt.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import type { Step } from "./step.ts";

/** A step as a transaction, and what its success means. */
export interface Act {
  txn: Txn;
  /** Success makes the claim a held one. */
  grants: boolean;
  /** What is put, and the places found that it replaces. */
  stakes: readonly Stake[];
  found: readonly Place[];
  session: bigint;
  /** Of what success reads, the last is the lock's history. */
  readsHistory: boolean;
}

type Acting = Extract<Step, { kind: "claim" | "join" | "grant" | "mark" | "sweep" }>;

/** @param wall  wall clock, ms since the epoch */
export function actionOf(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  step: Acting,
  wall: number,
): Act {
  switch (step.kind) {
    case "claim":
      return claim(ports, request, attempt, step, wall);
    case "join":
      return join(ports, request, attempt, step);
    case "grant":
      return grant(ports, request, attempt, step, wall);
    case "mark":
      return mark(attempt, step.places);
    case "sweep":
      return sweep(step.places);
  }
}

type Of<K extends Step["kind"]> = Extract<Step, { kind: K }>;

/** Puts all tickets where nobody stands in the lock's way; without leases that is the grant already. */
function claim(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  { basis, totals }: Of<"claim">,
  wall: number,
): Act {
  const { keys } = ports;
  const session = attempt.session.id;
  const grants = totals.length === 0;
  const lock = grants ? lockStake(request, attempt, "held", wall) : lockStake(request, attempt, "admitted");
  const stakes = [...lock, ...resourceStakes(keys, request, attempt, totals, "waiting")];
  const queues = request.patience.queues && lock.length > 0;
  const failure: Op[] = queues ? [{ op: "txn", txn: queueUp(ports, request, attempt, basis) }] : [];
  const reads = grants ? historyReads(ports, request) : [];
  const txn = claimTxn(keys, { lock: request.lock, stakes, session, basis, reads, failure });
  return { txn, grants, stakes, found: [], session, readsHistory: reads.length > 0 };
}

/** The lock's ticket alone, behind those who stand there: nobody reserves units while waiting for a name. */
function queueUp(ports: ClaimPorts, request: ClaimRequest, attempt: Attempt, basis: Basis): Txn {
  const stakes = lockStake(request, attempt, "waiting");
  return joinTxn(ports.keys, { stakes, session: attempt.session.id, basis, after: [], mark: [] });
}

function join(ports: ClaimPorts, request: ClaimRequest, attempt: Attempt, step: Of<"join">): Act {
  const { basis, totals, lock } = step;
  const stakes = resourceStakes(ports.keys, request, attempt, totals, "waiting");
  const mark = rewritten([lock], { state: "admitted" });
  const session = attempt.session.id;
  return writing(joinTxn(ports.keys, { stakes, session, basis, after: [lock], mark }));
}

function grant(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  { places, basis }: Of<"grant">,
  wall: number,
): Act {
  const session = attempt.session.id;
  const stakes = rewritten(places, { state: "held", grantedAt: wall });
  const reads = historyReads(ports, request);
  const txn = grantTxn(ports.keys, { places, stakes, session, basis, reads });
  return { txn, grants: true, stakes, found: places, session, readsHistory: reads.length > 0 };
}

/** A hint for those behind; were it lost, they would find out by reading again. */
function mark(attempt: Attempt, places: readonly Place[]): Act {
  const puts = putTickets(rewritten(places, { state: "admitted" }), attempt.session.id);
  return writing({ compare: untouched(places), success: puts, failure: [] });
}

function sweep(places: readonly Place[]): Act {
  const success = places.map(({ key }): Op => ({ op: "delete", key }));
  return writing({ compare: untouched(places), success, failure: [] });
}

/** A transaction that grants nothing; what it did is seen by looking. */
function writing(txn: Txn): Act {
  return { txn, grants: false, stakes: [], found: [], session: 0n, readsHistory: false };
}

/** The history is read with the grant, so that the finish can append to it in the transaction that frees the lock. */
function historyReads(ports: ClaimPorts, request: ClaimRequest): Op[] {
  if (!request.history || request.lock === undefined) return [];
  return [{ op: "range", key: ports.keys.history(request.lock) }];
}
