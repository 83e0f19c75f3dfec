import type { WallTime } from "../base/clock.ts";
import type { LeaseSpec } from "../fleet/lease-spec.ts";
import type { NewTicket } from "../protocol/guards.ts";
import type { Ticket } from "../protocol/ticket.ts";
import type { ResourceTotal } from "./eligibility.ts";
import type { ClaimPorts, ClaimRequest, ClaimSession, ResumedAttempt } from "./request.ts";

/**
 * One attempt to acquire a claim. It has its own run id and session, which are never reused, so a call of an abandoned
 * attempt that is still in flight cannot affect the next attempt.
 */
export interface ClaimAttempt {
  ports: ClaimPorts;
  request: ClaimRequest;
  run: string;
  session: ClaimSession;
  /** Its number among the attempts of its call; undefined if attempts are not numbered. */
  number: number | undefined;
  enqueuedAt: WallTime;
  lockKeys: readonly string[];
  resourceKeys: readonly string[];
  /** Claim nothing before this resolves: another process must know this attempt first, so that it can continue it. */
  announced?: Promise<void> | undefined;
}

/**
 * @param options.run      id of the run: a new one, or that of the attempt to continue
 * @param options.resumed  the attempt to continue, on its session; undefined for a new one
 */
export function createClaimAttempt(
  ports: ClaimPorts,
  request: ClaimRequest,
  session: ClaimSession,
  { run, resumed }: { run: string; resumed?: ResumedAttempt | undefined },
): ClaimAttempt {
  const enqueuedAt = resumed?.enqueuedAt ?? ports.clock.getWallTime();
  const number = resumed === undefined ? ports.attempts?.takeNumber() : ports.attempts?.last;
  const { keys } = ports;
  const attempt: ClaimAttempt = {
    ports,
    request,
    run,
    session,
    number,
    enqueuedAt,
    lockKeys: request.locks.map((lock) => keys.lock(lock, run)),
    resourceKeys: request.leases.map(({ resource }) => keys.resource(resource, run)),
  };
  attempt.announced = ports.onAttempt?.({ run, session: session.id, ttl: request.ttl, number, enqueuedAt });
  return attempt;
}

export function listOwnKeys(attempt: ClaimAttempt): readonly string[] {
  return [...attempt.lockKeys, ...attempt.resourceKeys];
}

export function buildLockTickets(
  attempt: ClaimAttempt,
  state: Ticket["state"],
  wall?: WallTime,
): NewTicket[] {
  const { isShared } = attempt.request;
  const ticket = buildTicket(attempt, { count: 1, total: 1, ...(isShared && { shared: true }) }, state, wall);
  return attempt.lockKeys.map((key) => ({ key, ticket }));
}

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

type TicketUnits = Pick<Ticket, "count" | "total" | "isStated" | "shared">;

function buildTicket(
  { ports, request, run, number, enqueuedAt }: ClaimAttempt,
  units: TicketUnits,
  state: Ticket["state"],
  grantedAt?: WallTime,
): Ticket {
  return {
    run,
    ...request.identity,
    ...(request.group !== undefined && { group: request.group }),
    ...(number !== undefined && { call: ports.attempts?.id ?? "", attempt: number }),
    ...units,
    state,
    enqueuedAt,
    ...(grantedAt !== undefined && { grantedAt }),
  };
}
