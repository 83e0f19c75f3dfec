import { newRunId } from "../../base/ids.ts";
import type { Session } from "../../etcd/session.ts";
import type { Stake } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Ticket } from "../../protocol/ticket.ts";
import type { ClaimPorts, ClaimRequest, LeaseWish } from "./request.ts";
import type { ResourceTotal } from "./situation.ts";

/**
 * One try at getting a claim: a run id and a session of its own, never used again, so that a call of an abandoned try
 * which is still in flight cannot touch the next one.
 */
export interface Attempt {
  run: string;
  session: Session;
  /** Wall clock, ms since the epoch. */
  enqueuedAt: number;
  lockKey: string | undefined;
  resourceKeys: readonly string[];
}

export function newAttempt(ports: ClaimPorts, request: ClaimRequest, session: Session): Attempt {
  const run = newRunId(ports.random);
  const { keys } = ports;
  return {
    run,
    session,
    enqueuedAt: ports.clock.wall(),
    lockKey: request.lock === undefined ? undefined : keys.lock(request.lock, run),
    resourceKeys: request.leases.map(({ resource }) => keys.resource(resource, run)),
  };
}

export function ownKeys(attempt: Attempt): readonly string[] {
  return attempt.lockKey === undefined ? attempt.resourceKeys : [attempt.lockKey, ...attempt.resourceKeys];
}

/** The ticket that an attempt puts into its lock's queue; empty when it wants no lock. */
export function lockStake(
  request: ClaimRequest,
  attempt: Attempt,
  state: Ticket["state"],
  wall?: number,
): Stake[] {
  if (attempt.lockKey === undefined) return [];
  const ticket = ticketOf(request, attempt, { count: 1, total: 1 }, state, wall);
  return [{ key: attempt.lockKey, ticket }];
}

/** The tickets that an attempt puts into its resources' queues. */
export function resourceStakes(
  keys: Keys,
  request: ClaimRequest,
  attempt: Attempt,
  totals: readonly ResourceTotal[],
  state: Ticket["state"],
): Stake[] {
  return totals.map(({ lease, total }) => ({
    key: keys.resource(lease.resource, attempt.run),
    ticket: ticketOf(request, attempt, unitsOf(lease, total), state),
  }));
}

function unitsOf({ count, total: stated }: LeaseWish, total: number): Units {
  return { count, total, ...(stated !== undefined && { isStated: true }) };
}

type Units = Pick<Ticket, "count" | "total" | "isStated">;

function ticketOf(
  request: ClaimRequest,
  attempt: Attempt,
  units: Units,
  state: Ticket["state"],
  grantedAt?: number,
): Ticket {
  return {
    run: attempt.run,
    ...request.identity,
    ...(request.group !== undefined && { group: request.group }),
    ...units,
    state,
    enqueuedAt: attempt.enqueuedAt,
    ...(grantedAt !== undefined && { grantedAt }),
  };
}
