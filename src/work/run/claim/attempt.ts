import { generateRunId } from "../../../base/ids.ts";
import type { Session } from "../../../etcd/session/session.ts";
import type { LeaseSpec } from "../../../fleet/lease-spec.ts";
import type { NewTicket } from "../../../protocol/guards.ts";
import type { Ticket } from "../../../protocol/ticket.ts";
import type { ClaimPorts, ClaimRequest } from "../request.ts";
import type { ResourceTotal } from "./eligibility.ts";

/**
 * One attempt to acquire a claim. It has its own run id and session, which are never reused, so a call of an abandoned
 * attempt that is still in flight cannot affect the next attempt.
 */
export interface ClaimAttempt {
  ports: ClaimPorts;
  request: ClaimRequest;
  run: string;
  session: Session;
  /** Wall clock, ms since the epoch. */
  enqueuedAt: number;
  lockKey: string | undefined;
  resourceKeys: readonly string[];
}

export function createClaimAttempt(ports: ClaimPorts, request: ClaimRequest, session: Session): ClaimAttempt {
  const run = generateRunId(ports.random);
  const { keys } = ports;
  ports.onAttempt?.(run);
  return {
    ...{ ports, request, run, session },
    enqueuedAt: ports.clock.getWallTime(),
    lockKey: request.lock === undefined ? undefined : keys.lock(request.lock, run),
    resourceKeys: request.leases.map(({ resource }) => keys.resource(resource, run)),
  };
}

export function listOwnKeys(attempt: ClaimAttempt): readonly string[] {
  return attempt.lockKey === undefined ? attempt.resourceKeys : [attempt.lockKey, ...attempt.resourceKeys];
}

/** Builds the ticket for the lock's queue; empty when the request has no lock. */
export function buildLockTicket(attempt: ClaimAttempt, state: Ticket["state"], wall?: number): NewTicket[] {
  if (attempt.lockKey === undefined) return [];
  const ticket = buildTicket(attempt, { count: 1, total: 1 }, state, wall);
  return [{ key: attempt.lockKey, ticket }];
}

/** Builds the tickets for the queues of the resources. */
export function buildResourceTickets(
  attempt: ClaimAttempt,
  totals: readonly ResourceTotal[],
  state: Ticket["state"],
): NewTicket[] {
  return totals.map(({ lease, total }) => ({
    key: attempt.ports.keys.resource(lease.resource, attempt.run),
    ticket: buildTicket(attempt, buildUnits(lease, total), state),
  }));
}

function buildUnits({ count, total: stated }: LeaseSpec, total: number): TicketUnits {
  return { count, total, ...(stated !== undefined && { isStated: true }) };
}

type TicketUnits = Pick<Ticket, "count" | "total" | "isStated">;

function buildTicket(
  { request, run, enqueuedAt }: ClaimAttempt,
  units: TicketUnits,
  state: Ticket["state"],
  grantedAt?: number,
): Ticket {
  return {
    run,
    ...request.identity,
    ...(request.group !== undefined && { group: request.group }),
    ...units,
    state,
    enqueuedAt,
    ...(grantedAt !== undefined && { grantedAt }),
  };
}
