import type { Drain } from "../../protocol/drain.ts";
import { isClaimReady, listDrainsOnClaim } from "../preview/eviction-preview.ts";
import { buildClaims, type Claim, compareClaims, isHolder } from "../snapshot/claims.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../snapshot/snapshot.ts";

/** A grant to come. */
export interface PlannedGrant {
  claim: Claim;
  /** 0: now. n: when all runs that hold these queues in round n - 1 have ended. */
  round: number;
}

/** A waiting claim that is not granted, however many runs end. */
export interface BlockedClaim {
  claim: Claim;
  /** The drains that stop it. Without any, it requests too much, waits behind such a run, or waits in another queue. */
  drains: readonly Drain[];
}

/** The order in which waiting runs are granted. */
export interface GrantOrder {
  grants: readonly PlannedGrant[];
  blocked: readonly BlockedClaim[];
}

/**
 * Computes the order in which the runs in some queues are granted, if no run joins or leaves. Each decision is that of
 * the protocol, `admit`. What waiting runs will claim later (the leases of runs behind a lock) is not known.
 * @param queueIds  as of `buildQueueId`. Other queues stay as they are
 * @param wall  wall clock, ms since the epoch. Expired drains have no effect
 * @param most  ends the computation after the round with this grant; the runs that are left then count as blocked
 */
export function computeGrantOrder(
  snapshot: Snapshot,
  queueIds: ReadonlySet<string>,
  wall: number,
  most = Number.POSITIVE_INFINITY,
): GrantOrder {
  const grants: PlannedGrant[] = [];
  let current = snapshot;
  for (let round = 0; ; round += 1) {
    const claims = listClaimsIn(current, queueIds);
    const ready = claims.filter((claim) => isGranted(current, claim, wall));
    grants.push(...ready.map((claim) => ({ claim, round })));
    const isEnd = ready.length === 0 && !claims.some(isHolder);
    if (isEnd || grants.length >= most) {
      const blocked = claims.map((claim) => ({ claim, drains: listDrainsOnClaim(current, claim, wall) }));
      return { grants, blocked };
    }
    const holders = [...claims.filter(isHolder), ...ready];
    current = removeRunsFrom(current, new Set(holders.map(({ run }) => run)));
  }
}

function isGranted(snapshot: Snapshot, claim: Claim, wall: number): boolean {
  return (
    !isHolder(claim) && isClaimReady(snapshot, claim) && listDrainsOnClaim(snapshot, claim, wall).length === 0
  );
}

function listClaimsIn(snapshot: Snapshot, queueIds: ReadonlySet<string>): Claim[] {
  const isIn = ({ entries }: Claim) =>
    entries.some(({ queue: { kind, name } }) => queueIds.has(buildQueueId(kind, name)));
  return [...buildClaims(snapshot).values()].filter(isIn).sort(compareClaims);
}

/** Returns the snapshot without the queue entries of some runs. */
export function removeRunsFrom(snapshot: Snapshot, runs: ReadonlySet<string>): Snapshot {
  const queues = [...snapshot.queues].map(([id, queue]): [string, NamedQueue] => [
    id,
    { ...queue, entries: queue.entries.filter(({ run }) => !runs.has(run)) },
  ]);
  return { ...snapshot, queues: new Map(queues.filter(([, { entries }]) => entries.length > 0)) };
}
