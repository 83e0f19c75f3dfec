import type { WallTime } from "../../core/base/clock.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import { admit, isHolding } from "../../core/protocol/admission.ts";
import type { Drain, DrainTarget } from "../../core/protocol/drain.ts";
import { buildClaims, type Claim, compareClaims, isHolder } from "./claims.ts";
import { computeDrainExtent } from "./drain-extent.ts";
import { findQueueTotal, removeRuns } from "./eviction-preview.ts";
import { estimateWait, type WaitEstimate } from "./explain.ts";
import { computeConfigImpact } from "./impact.ts";
import {
  buildQueueId,
  findNamedQueue,
  type NamedQueue,
  type Snapshot,
  type StoredValue,
} from "./snapshot.ts";
import { buildViewContext, listDrainsOnClaim, type ViewContext } from "./view-context.ts";

/** A waiting run that gives up or claims again later. */
interface LeavingClaim {
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

/** Computes what a reset does before the queues move on. @param evicted  the claims that lose their tickets */
export function computeResetEffect(snapshot: Snapshot, evicted: readonly Claim[]): DirectEffect {
  const after = removeRunsFrom(snapshot, new Set(evicted.map(({ run }) => run)));
  return { after, ends: evicted, leaves: [], queueIds: listQueueIds(evicted) };
}

/** Computes what a drain does before the queues move on. It ends no command. @param by  operator of the drain, for texts */
export function computeDrainEffect(
  snapshot: Snapshot,
  target: DrainTarget,
  { by, wall }: { by: string; wall: WallTime },
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

/** Computes what a new total does before the queues move on. @param total  units, a positive whole number */
export function computeTotalEffect(
  snapshot: Snapshot,
  { resource, total }: { resource: string; total: number },
  wall: WallTime,
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

/** Predicts what follows from a change, compared with what would happen without it. */
export function predictChange(
  snapshot: Snapshot,
  { after, ends, leaves, queueIds }: DirectEffect,
  wall: WallTime,
): WhatIfReport {
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
  wall: WallTime,
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
  return new Set(claims.flatMap(({ entries }) => entries.map(({ queue }) => getQueueId(queue))));
}

/** Largest number of tickets in the cluster for which the line is computed: it is computed again while it is read. */
export const MOST_TICKETS = 5_000;

/** Whether the cluster is small enough to compute the next grants whenever a preview is made. */
export function canPredictGrants({ queues }: Pick<Snapshot, "queues">): boolean {
  let count = 0;
  for (const { entries } of queues.values()) {
    count += entries.length;
    if (count > MOST_TICKETS) return false;
  }
  return true;
}

/** A grant to come. */
interface PlannedGrant {
  claim: Claim;
  /** 0: now. n: when all runs that hold these queues in round n - 1 have ended. */
  round: number;
}

/** A waiting claim that is not granted, however many runs end. */
interface BlockedClaim {
  claim: Claim;
  /** The drains that stop it. Without any, it requests too much, waits behind such a run, or waits in another queue. */
  drains: readonly Drain[];
}

/**
 * Computes the order in which the runs in some queues are granted, if no run joins or leaves. Each decision is that of
 * the protocol, `admit`. What waiting runs will claim later (the leases of runs behind a lock) is not known.
 * @param queueIds  as of `buildQueueId`. Other queues stay as they are
 * @param wall  Expired drains have no effect
 * @param most  ends the computation after the round with this grant; the runs that are left then count as blocked
 */
export function computeGrantOrder(
  snapshot: Snapshot,
  queueIds: ReadonlySet<string>,
  wall: WallTime,
  most = Infinity,
): { grants: readonly PlannedGrant[]; blocked: readonly BlockedClaim[] } {
  const planned = new PlannedQueues(snapshot, queueIds, wall);
  const grants: PlannedGrant[] = [];
  for (let round = 0; ; round += 1) {
    const ready = planned.listReady();
    grants.push(...ready.map((claim) => ({ claim, round })));
    const isEnd = ready.length === 0 && planned.holders.length === 0;
    if (isEnd || grants.length >= most) return { grants, blocked: planned.listBlocked() };
    planned.remove([...planned.holders, ...ready]);
  }
}

/**
 * Some queues while runs leave them. Only queues from which a run has left are looked at again: with a thousand waiters,
 * everything else would take seconds.
 */
class PlannedQueues {
  readonly #snapshot: Snapshot;
  readonly #viewContext: ViewContext;
  readonly #queues: Map<string, NamedQueue>;
  /** Claims of the queues by run, by age. */
  readonly #left: Map<string, Claim>;
  /** The runs that hold all their queues and have not left. */
  holders: readonly Claim[];
  /** Queues that have changed since the last call of `listReady`. */
  #changed: Set<string>;
  /** The runs that each queue admits. */
  readonly #admitted = new Map<string, ReadonlySet<string>>();

  constructor(snapshot: Snapshot, queueIds: ReadonlySet<string>, wall: WallTime) {
    this.#snapshot = snapshot;
    this.#viewContext = buildViewContext(snapshot, wall);
    this.#queues = new Map(snapshot.queues);
    const isIn = ({ entries }: Claim) => entries.some(({ queue }) => queueIds.has(getQueueId(queue)));
    const claims = [...buildClaims(snapshot).values()].filter(isIn).sort(compareClaims);
    this.#left = new Map(claims.map((claim) => [claim.run, claim]));
    this.holders = claims.filter(isHolder);
    this.#changed = listQueueIds(claims);
  }

  /** Lists the waiting runs that can be granted now, by age. */
  listReady(): Claim[] {
    const runs = new Set<string>();
    for (const id of this.#changed) {
      const admitted = listAdmitted(this.#snapshot, this.#queues.get(id));
      this.#admitted.set(id, admitted);
      for (const run of admitted) runs.add(run);
    }
    this.#changed = new Set();
    const found = [...runs].flatMap((run) => this.#left.get(run) ?? []);
    return found.filter((claim) => this.#isReady(claim)).sort(compareClaims);
  }

  /** Lists the runs that are left, with the drains that stop them. */
  listBlocked(): BlockedClaim[] {
    return [...this.#left.values()].map((claim) => ({
      claim,
      drains: listDrainsOnClaim(claim, this.#viewContext),
    }));
  }

  remove(claims: readonly Claim[]): void {
    const runs = new Set(claims.map(({ run }) => run));
    for (const { run, entries } of claims) {
      this.#left.delete(run);
      for (const { queue } of entries) this.#changed.add(getQueueId(queue));
    }
    for (const id of this.#changed) {
      const queue = this.#queues.get(id);
      if (queue !== undefined) this.#queues.set(id, removeRuns(queue, runs));
    }
    this.holders = this.holders.filter(({ run }) => !runs.has(run));
  }

  #isReady(claim: Claim): boolean {
    if (isHolder(claim)) return false;
    const isAdmitted = claim.entries.every(({ queue }) =>
      this.#admitted.get(getQueueId(queue))?.has(claim.run),
    );
    return isAdmitted && listDrainsOnClaim(claim, this.#viewContext).length === 0;
  }
}

/** Lists the runs that a queue admits: behind the first that it does not admit, it admits only holders. */
function listAdmitted(snapshot: Snapshot, queue: NamedQueue | undefined): Set<string> {
  const admitted = new Set<string>();
  if (queue === undefined) return admitted;
  const configured = findQueueTotal(snapshot, queue);
  let isOpen = true;
  for (const entry of queue.entries) {
    if (isHolding(entry)) admitted.add(entry.run);
    else if (isOpen && admit(queue.entries, entry.run, configured).kind === "admitted")
      admitted.add(entry.run);
    else isOpen = false;
  }
  return admitted;
}

function getQueueId({ kind, name }: NamedQueue): string {
  return buildQueueId(kind, name);
}

/** Returns the snapshot without the queue entries of some runs. */
export function removeRunsFrom(snapshot: Snapshot, runs: ReadonlySet<string>): Snapshot {
  const queues = [...snapshot.queues].map(([id, queue]) => [id, removeRuns(queue, runs)] as const);
  return { ...snapshot, queues: new Map(queues.filter(([, { entries }]) => entries.length > 0)) };
}
