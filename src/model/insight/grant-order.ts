import { admit, isHolding } from "../../protocol/admission.ts";
import type { Drain } from "../../protocol/drain.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import { buildClaims, type Claim, compareClaims, findClaimTicket, isHolder } from "../snapshot/claims.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../snapshot/snapshot.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import type { ViewContext } from "../views/view.ts";
import { buildViewContext } from "../views/view-context.ts";

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
  #holders: readonly Claim[];
  /** Queues that have changed since the last call of `listReady`. */
  #changed: Set<string>;
  /** The runs that each queue admits. */
  readonly #admitted = new Map<string, ReadonlySet<string>>();

  constructor(snapshot: Snapshot, queueIds: ReadonlySet<string>, wall: number) {
    this.#snapshot = snapshot;
    this.#viewContext = buildViewContext(snapshot, wall);
    this.#queues = new Map(snapshot.queues);
    const isIn = ({ entries }: Claim) => entries.some(({ queue }) => queueIds.has(getQueueId(queue)));
    const claims = [...buildClaims(snapshot).values()].filter(isIn).sort(compareClaims);
    this.#left = new Map(claims.map((claim) => [claim.run, claim]));
    this.#holders = claims.filter(isHolder);
    this.#changed = new Set(claims.flatMap(({ entries }) => entries.map(({ queue }) => getQueueId(queue))));
  }

  /** The runs that hold all their queues and have not left. */
  get holders(): readonly Claim[] {
    return this.#holders;
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
    return [...this.#left.values()].map((claim) => ({ claim, drains: this.#listDrains(claim) }));
  }

  remove(claims: readonly Claim[]): void {
    const runs = new Set(claims.map(({ run }) => run));
    for (const { run, entries } of claims) {
      this.#left.delete(run);
      for (const { queue } of entries) this.#changed.add(getQueueId(queue));
    }
    for (const id of this.#changed) {
      const queue = this.#queues.get(id);
      if (queue !== undefined)
        this.#queues.set(id, { ...queue, entries: queue.entries.filter(({ run }) => !runs.has(run)) });
    }
    this.#holders = this.#holders.filter(({ run }) => !runs.has(run));
  }

  #isReady(claim: Claim): boolean {
    if (isHolder(claim)) return false;
    const isAdmitted = claim.entries.every(({ queue }) =>
      this.#admitted.get(getQueueId(queue))?.has(claim.run),
    );
    return isAdmitted && this.#listDrains(claim).length === 0;
  }

  #listDrains(claim: Claim): readonly Drain[] {
    const queues = claim.entries.map(({ queue }) => queue);
    return listStoppingDrains({ host: findClaimTicket(claim)?.host, queues }, this.#viewContext);
  }
}

/** Lists the runs that a queue admits: behind the first that it does not admit, it admits only holders. */
function listAdmitted(snapshot: Snapshot, queue: NamedQueue | undefined): Set<string> {
  const admitted = new Set<string>();
  if (queue === undefined) return admitted;
  const configured = queue.kind === "resource" ? findPlainTotal(snapshot, queue.name) : 1;
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
  const queues = [...snapshot.queues].map(([id, queue]): [string, NamedQueue] => [
    id,
    { ...queue, entries: queue.entries.filter(({ run }) => !runs.has(run)) },
  ]);
  return { ...snapshot, queues: new Map(queues.filter(([, { entries }]) => entries.length > 0)) };
}
