import type { WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import { admit, isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import { buildClaims, type Claim, compareClaims, isHolder } from "./claims.ts";
import type { NamedQueue, Snapshot } from "./snapshot.ts";
import { buildViewContext, listDrainsOnClaim } from "./view-context.ts";

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
 * @param wall  Expired drains have no effect
 */
export function previewEviction(
  snapshot: Snapshot,
  runs: ReadonlySet<string>,
  wall: WallTime,
): EvictionPreview {
  const claims = buildClaims(snapshot);
  const evicted = [...runs].flatMap((run) => claims.get(run) ?? []);
  const touched = new Set(evicted.flatMap(({ entries }) => entries.map(({ queue }) => queue)));
  const candidates = new Set([...touched].flatMap(({ entries }) => entries.map(({ run }) => run)));
  const excludeRuns = createRunRemover(runs);
  const viewContext = buildViewContext(snapshot, wall);
  const next = [...candidates].flatMap((run) => {
    const claim = claims.get(run);
    if (claim === undefined || runs.has(run) || isHolder(claim)) return [];
    const isNew = isClaimReady(snapshot, claim, excludeRuns) && !isClaimReady(snapshot, claim);
    return isNew ? [{ claim, drains: listDrainsOnClaim(claim, viewContext) }] : [];
  });
  return {
    evicted,
    freed: sumFreedUnits(touched, excludeRuns),
    next: next.sort((a, b) => compareClaims(a.claim, b.claim)),
  };
}

/** Returns a function that removes runs from a queue. Each queue is copied once: all its thousands of runs are checked in it. */
function createRunRemover(runs: ReadonlySet<string>): (queue: NamedQueue) => NamedQueue {
  return memoize((queue) => removeRuns(queue, runs));
}

/** Returns a queue without the entries of some runs. */
export function removeRuns(queue: NamedQueue, runs: ReadonlySet<string>): NamedQueue {
  return { ...queue, entries: queue.entries.filter(({ run }) => !runs.has(run)) };
}

/** Whether every ticket of a claim is admitted. @param as  returns the queue to check in place of the current one */
export function isClaimReady(
  snapshot: Snapshot,
  { run, entries }: Claim,
  as = (queue: NamedQueue) => queue,
): boolean {
  return entries.every(
    ({ queue }) => admit(as(queue).entries, run, findQueueTotal(snapshot, queue)).kind === "admitted",
  );
}

/** Returns the units of a queue: of a lock one, of a resource the configured total if it is a plain number. */
export function findQueueTotal(
  snapshot: Pick<Snapshot, "resources">,
  { kind, name }: Pick<NamedQueue, "kind" | "name">,
): number | undefined {
  return kind === "lock" ? 1 : findPlainTotal(snapshot, name);
}

/**
 * Returns the configured total if it is a plain number. An expression has a different value on each host; there, each
 * ticket states its own total.
 */
export function findPlainTotal(snapshot: Pick<Snapshot, "resources">, name: string): number | undefined {
  const total = snapshot.resources.get(name)?.value?.total ?? "";
  return /^[1-9]\d{0,14}$/.test(total) ? Number(total) : undefined;
}

function sumFreedUnits(
  queues: Iterable<NamedQueue>,
  excludeRuns: (queue: NamedQueue) => NamedQueue,
): EvictionPreview["freed"] {
  const sumHeld = ({ entries }: NamedQueue) => sumHeldUnits(entries.filter(isHolding));
  return [...queues].flatMap((queue) => {
    const units = sumHeld(queue) - sumHeld(excludeRuns(queue));
    return units > 0 ? [{ kind: queue.kind, name: queue.name, units }] : [];
  });
}
