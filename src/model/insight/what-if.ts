import type { ResourceConfig } from "../../fleet/resources.ts";
import type { Drain, DrainTarget } from "../../protocol/drain.ts";
import { computeConfigImpact } from "../config-impact/impact.ts";
import { estimateWait, type WaitEstimate } from "../explain/explain.ts";
import { computeDrainExtent } from "../preview/drain-extent.ts";
import type { Claim } from "../snapshot/claims.ts";
import { buildQueueId, findNamedQueue, type Snapshot, type StoredValue } from "../snapshot/snapshot.ts";
import { type BlockedClaim, computeGrantOrder, type PlannedGrant, removeRunsFrom } from "./grant-order.ts";

/** A waiting run that gives up or claims again later. */
export interface LeavingClaim {
  claim: Claim;
  why: string;
  /** Whether it is not certain: its ticket does not show all of its options. */
  isPerhaps: boolean;
}

/** A grant to come. */
export interface ComparedGrant extends PlannedGrant {
  /** Its round without the change; undefined if it would not be granted. */
  before: number | undefined;
  /** In which time it is expected, from the last runs of the lock, ms; undefined if that is not known. */
  expected: Extract<WaitEstimate, { kind: "usual" }> | undefined;
}

/** Largest number of grants whose time is estimated: one takes as long as its queue. */
const MOST_ESTIMATES = 50;

/** The effects of a change on current runs. */
export interface WhatIfReport {
  /** Runs whose command is ended. */
  ends: readonly Claim[];
  leaves: readonly LeavingClaim[];
  /** Runs that are granted, in this order. */
  grants: readonly ComparedGrant[];
  blocked: readonly BlockedClaim[];
}

/** What a change does before the queues move on. */
export interface DirectEffect {
  after: Snapshot;
  ends: readonly Claim[];
  leaves: readonly LeavingClaim[];
  /** Ids of the queues that the change may affect. */
  queueIds: ReadonlySet<string>;
}

/** Predicts the effect of a reset. @param evicted  the claims that lose their tickets */
export function predictReset(snapshot: Snapshot, evicted: readonly Claim[], wall: number): WhatIfReport {
  return compareOrders(snapshot, computeResetEffect(snapshot, evicted), wall);
}

/** Computes what a reset does before the queues move on. @param evicted  as in `predictReset` */
export function computeResetEffect(snapshot: Snapshot, evicted: readonly Claim[]): DirectEffect {
  const after = removeRunsFrom(snapshot, new Set(evicted.map(({ run }) => run)));
  return { after, ends: evicted, leaves: [], queueIds: listQueueIds(evicted) };
}

/** Predicts the effect of a drain. It ends no command. @param by  operator of the drain, for texts */
export function predictDrain(
  snapshot: Snapshot,
  target: DrainTarget,
  { by, wall }: { by: string; wall: number },
): WhatIfReport {
  return compareOrders(snapshot, computeDrainEffect(snapshot, target, { by, wall }), wall);
}

/** Computes what a drain does before the queues move on. Parameters as in `predictDrain`. */
export function computeDrainEffect(
  snapshot: Snapshot,
  target: DrainTarget,
  { by, wall }: { by: string; wall: number },
): DirectEffect {
  const { holders, waiters } = computeDrainExtent(snapshot, target, wall);
  const leaves = waiters.flatMap(({ claim, fate }): LeavingClaim[] => {
    if (fate === "stays") return [];
    const why = fate === "leaves" ? "claims again after the drain" : "gives up unless it waits (--wait)";
    return [{ claim, why, isPerhaps: fate === "depends" }];
  });
  const drain: Drain = { ...target, key: "", by, at: wall, modRevision: snapshot.revision };
  const drained = { ...snapshot, drains: new Map([...snapshot.drains, ["", drain]]) };
  const queueIds = listQueueIds([...holders, ...waiters.map(({ claim }) => claim)]);
  return { after: removeLeaving(drained, leaves), ends: [], leaves, queueIds };
}

/** Predicts the effect of a new total. @param total  units, a positive whole number */
export function predictTotal(
  snapshot: Snapshot,
  { resource, total }: { resource: string; total: number },
  wall: number,
): WhatIfReport {
  return compareOrders(snapshot, computeTotalEffect(snapshot, { resource, total }, wall), wall);
}

/** Computes what a new total does before the queues move on. Parameters as in `predictTotal`. */
export function computeTotalEffect(
  snapshot: Snapshot,
  { resource, total }: { resource: string; total: number },
  wall: number,
): DirectEffect {
  const stored = snapshot.resources.get(resource);
  const config = { ...stored?.value, total: String(total) };
  const change = { kind: "resource", name: resource, before: stored?.value, after: config } as const;
  const { affected } = computeConfigImpact(snapshot, [change], wall);
  const leaves = affected.flatMap(({ claim, fate, why }): LeavingClaim[] =>
    fate === "ended" ? [] : [{ claim, why, isPerhaps: fate === "perhaps" }],
  );
  const value: StoredValue<ResourceConfig> = { value: config, modRevision: snapshot.revision };
  const changed = { ...snapshot, resources: new Map([...snapshot.resources, [resource, value]]) };
  const ends = affected.flatMap(({ claim, fate }) => (fate === "ended" ? [claim] : []));
  const queueIds = new Set([
    buildQueueId("resource", resource),
    ...listQueueIds(leaves.map(({ claim }) => claim)),
  ]);
  return { after: removeLeaving(changed, leaves), ends, leaves, queueIds };
}

function removeLeaving(snapshot: Snapshot, leaves: readonly LeavingClaim[]): Snapshot {
  const certain = leaves.filter(({ isPerhaps }) => !isPerhaps);
  return removeRunsFrom(snapshot, new Set(certain.map(({ claim }) => claim.run)));
}

function compareOrders(snapshot: Snapshot, effect: DirectEffect, wall: number): WhatIfReport {
  const { after, ends, leaves, queueIds } = effect;
  const { grants, blocked } = computeGrantOrder(after, queueIds, wall);
  const before = new Map(
    computeGrantOrder(snapshot, queueIds, wall).grants.map(({ claim, round }) => [claim.run, round]),
  );
  return {
    ends,
    leaves,
    blocked,
    grants: grants.map((grant, at) => ({
      ...grant,
      before: before.get(grant.claim.run),
      expected: at < MOST_ESTIMATES ? estimateGrant(after, grant, wall) : undefined,
    })),
  };
}

/** Estimates when a run gets the lock that it waits for. What it waits for besides is not known. */
function estimateGrant(
  after: Snapshot,
  { claim, round }: PlannedGrant,
  wall: number,
): ComparedGrant["expected"] {
  const [only, ...others] = claim.entries;
  if (round === 0 || only === undefined || others.length > 0 || only.queue.kind !== "lock") return undefined;
  const { name } = only.queue;
  const entries = findNamedQueue(after, "lock", name)?.entries ?? [];
  const at = entries.findIndex(({ run }) => run === claim.run);
  const estimate = estimateWait(entries.slice(0, at).toReversed(), after.histories.get(name) ?? [], wall);
  return estimate?.kind === "usual" ? estimate : undefined;
}

function listQueueIds(claims: readonly Claim[]): Set<string> {
  return new Set(
    claims.flatMap(({ entries }) => entries.map(({ queue }) => buildQueueId(queue.kind, queue.name))),
  );
}
