import { admit, isHolding } from "../../protocol/admission.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { buildClaims, type Claim, compareClaims, findClaimTicket, isHolder } from "../snapshot/claims.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../snapshot/snapshot.ts";
import { listStoppingDrains } from "../views/stopping-drains.ts";
import { buildViewContext } from "../views/view-context.ts";

/** The effect on other runs when some runs lose their claims. */
export interface EvictionPreview {
  /** The runs that lose their claims, with all their tickets. */
  evicted: readonly Claim[];
  /** Units that become free, per lock or resource. */
  freed: readonly { kind: QueueKind; name: string; units: number }[];
  /** Claims that can be granted only after the eviction, in the order of claims. */
  next: readonly UpcomingClaim[];
}

/** A claim that can be granted after an eviction. */
export interface UpcomingClaim {
  claim: Claim;
  /** Drains that still stop it. */
  drains: readonly Drain[];
}

/**
 * Computes what happens if these runs lose their claims now.
 * @param wall  wall clock, ms since the epoch. Expired drains have no effect
 */
export function previewEviction(
  snapshot: Snapshot,
  runs: ReadonlySet<string>,
  wall: number,
): EvictionPreview {
  const claims = buildClaims(snapshot);
  const evicted = [...runs].flatMap((run) => claims.get(run) ?? []);
  const touched = new Map(
    evicted.flatMap(({ entries }) =>
      entries.map(({ queue }) => [buildQueueId(queue.kind, queue.name), queue] as const),
    ),
  );
  const candidates = new Set([...touched.values()].flatMap(({ entries }) => entries.map(({ run }) => run)));
  const excludeRuns = createRunRemover(runs);
  const next = [...candidates].flatMap((run) => {
    const claim = claims.get(run);
    if (claim === undefined || runs.has(run) || isHolder(claim)) return [];
    const isNew = isClaimReady(snapshot, claim, excludeRuns) && !isClaimReady(snapshot, claim);
    return isNew ? [{ claim, drains: listDrainsOnClaim(snapshot, claim, wall) }] : [];
  });
  return {
    evicted,
    freed: sumFreedUnits(evicted),
    next: next.sort((a, b) => compareClaims(a.claim, b.claim)),
  };
}

/** Returns a function that removes runs from a queue. Each queue is copied once: all its thousands of runs are checked in it. */
function createRunRemover(runs: ReadonlySet<string>): (queue: NamedQueue) => NamedQueue {
  const known = new Map<NamedQueue, NamedQueue>();
  return (queue) => {
    const removed = known.get(queue) ?? {
      ...queue,
      entries: queue.entries.filter(({ run }) => !runs.has(run)),
    };
    known.set(queue, removed);
    return removed;
  };
}

/** Whether every ticket of a claim is admitted. @param as  returns the queue to check in place of the current one */
export function isClaimReady(
  snapshot: Pick<Snapshot, "resources">,
  { run, entries }: Claim,
  as = (queue: NamedQueue) => queue,
): boolean {
  return entries.every(({ queue }) => {
    const configured = queue.kind === "resource" ? findPlainTotal(snapshot, queue.name) : 1;
    return admit(as(queue).entries, run, configured).kind === "admitted";
  });
}

/**
 * Returns the configured total if it is a plain number. An expression has a different value on each host; there, each
 * ticket states its own total.
 */
export function findPlainTotal(snapshot: Pick<Snapshot, "resources">, name: string): number | undefined {
  const total = snapshot.resources.get(name)?.value?.total ?? "";
  return /^[1-9]\d{0,14}$/.test(total) ? Number(total) : undefined;
}

/** Lists the drains that prevent the grant of a claim. */
export function listDrainsOnClaim(snapshot: Snapshot, claim: Claim, wall: number): readonly Drain[] {
  const location = { host: findClaimTicket(claim)?.host, queues: claim.entries.map(({ queue }) => queue) };
  return listStoppingDrains(location, buildViewContext(snapshot, wall));
}

function sumFreedUnits(evicted: readonly Claim[]): EvictionPreview["freed"] {
  const sums = new Map<string, { kind: QueueKind; name: string; units: number }>();
  for (const { queue, entry } of evicted.flatMap(({ entries }) => entries)) {
    if (!isHolding(entry)) continue;
    const id = buildQueueId(queue.kind, queue.name);
    const sum = sums.get(id) ?? { kind: queue.kind, name: queue.name, units: 0 };
    sums.set(id, { ...sum, units: sum.units + (entry.ticket?.count ?? 0) });
  }
  return [...sums.values()];
}
