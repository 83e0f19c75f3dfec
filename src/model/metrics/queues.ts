import { isHolding } from "../../protocol/admission.ts";
import { computeShares, type ResourceShare } from "../rows/shares.ts";
import type { NamedQueue, Snapshot } from "../snapshot/snapshot.ts";
import { createMetric, type MetricFamily, type MetricSample } from "./metric-family.ts";

/** Maximum number of locks with their own series: the locks with the longest wait. */
const MOST_LOCKS = 100;
/** Maximum number of resources with their own series. */
const MOST_RESOURCES = 2_000;

/** Measures locks and resources. @param wall  ms since the epoch */
export function measureQueues(snapshot: Snapshot, wall: number): MetricFamily[] {
  const allTotals = [...snapshot.queues.values()].map(computeQueueTotals);
  const kinds = (["lock", "resource"] as const).map((kind) => {
    return { kind, all: allTotals.filter(({ queue }) => queue.kind === kind) };
  });
  const sumByKind = (of: (totals: QueueTotals) => number): MetricSample[] =>
    kinds.map(({ kind, all }) => [{ kind }, all.reduce((sum, totals) => sum + of(totals), 0)]);
  const findOldest = (of: (totals: QueueTotals) => number): MetricSample[] =>
    kinds.map(({ kind, all }) => [{ kind }, computeSecondsSince(findLeast(all, of), wall)]);
  return [
    createFamily(
      "queues",
      "Locks and resources that are held or waited for.",
      sumByKind(() => 1),
    ),
    createFamily(
      "holders",
      "Runs that hold a lock or units.",
      sumByKind(({ holders }) => holders),
    ),
    createFamily(
      "waiters",
      "Runs that wait for a lock or units.",
      sumByKind(({ waiters }) => waiters),
    ),
    createFamily(
      "waited_queues",
      "Locks and resources with waiting runs.",
      sumByKind(({ waiters }) => Number(waiters > 0)),
    ),
    createFamily(
      "oldest_wait_seconds",
      "How long the longest waiting run has waited.",
      findOldest(({ waitsSince }) => waitsSince),
    ),
    createFamily(
      "oldest_hold_seconds",
      "How long the longest holding run has held.",
      findOldest(({ heldSince }) => heldSince),
    ),
    ...measureLocks(kinds[0]?.all ?? [], wall),
    ...measureResources(snapshot),
  ];
}

const createFamily = (name: string, help: string, samples: readonly MetricSample[]): MetricFamily => ({
  name,
  help,
  samples,
});

/** Totals of one queue. Instants in ms since the epoch, infinite if there is none. */
interface QueueTotals {
  queue: NamedQueue;
  holders: number;
  waiters: number;
  waitsSince: number;
  heldSince: number;
}

/** Totals of unchanged queues: a queue may have many thousand entries. */
const totalsByQueue = new WeakMap<NamedQueue, QueueTotals>();

function computeQueueTotals(queue: NamedQueue): QueueTotals {
  const known = totalsByQueue.get(queue);
  if (known !== undefined) return known;
  const none = Number.POSITIVE_INFINITY;
  const totals = { queue, holders: 0, waiters: 0, waitsSince: none, heldSince: none };
  for (const entry of queue.entries) {
    const { ticket } = entry;
    if (isHolding(entry)) {
      totals.holders += 1;
      totals.heldSince = Math.min(totals.heldSince, ticket?.grantedAt ?? none);
    } else {
      totals.waiters += 1;
      totals.waitsSince = Math.min(totals.waitsSince, ticket?.enqueuedAt ?? none);
    }
  }
  totalsByQueue.set(queue, totals);
  return totals;
}

function findLeast(all: readonly QueueTotals[], of: (totals: QueueTotals) => number): number {
  return all.reduce((found, totals) => Math.min(found, of(totals)), Number.POSITIVE_INFINITY);
}

/** Returns the seconds since an instant: 0 if it is infinite or, because clocks differ, in the future. */
function computeSecondsSince(instant: number, wall: number): number {
  return Number.isFinite(instant) ? Math.max(0, wall - instant) / 1_000 : 0;
}

function measureLocks(locks: readonly QueueTotals[], wall: number): MetricFamily[] {
  const waited = locks.filter(({ waiters }) => waiters > 0).sort((a, b) => a.waitsSince - b.waitsSince);
  const shown = waited.slice(0, MOST_LOCKS);
  const buildSamples = (of: (totals: QueueTotals) => number): MetricSample[] =>
    shown.map((totals) => [{ lock: totals.queue.name }, of(totals)]);
  return [
    createFamily(
      "lock_waiters",
      "Runs that wait for a lock.",
      buildSamples(({ waiters }) => waiters),
    ),
    createFamily(
      "lock_oldest_wait_seconds",
      "How long the longest waiting run of a lock has waited.",
      buildSamples(({ waitsSince }) => computeSecondsSince(waitsSince, wall)),
    ),
    createMetric(
      "locks_left_out",
      "Locks with waiters that have no series of their own.",
      waited.length - shown.length,
    ),
  ];
}

function measureResources(snapshot: Snapshot): MetricFamily[] {
  const { hosts, others } = computeShares(snapshot);
  const shares = [...hosts.flatMap(({ parts }) => parts), ...others];
  const shown = shares.slice(0, MOST_RESOURCES);
  const buildSamples = (of: (share: ResourceShare) => number | undefined): MetricSample[] =>
    shown.flatMap((share) => {
      const value = of(share);
      return value === undefined ? [] : [[{ resource: share.name }, value] as const];
    });
  return [
    createFamily(
      "resource_units",
      "Total units of a resource.",
      buildSamples(({ total }) => total),
    ),
    createFamily(
      "resource_used_units",
      "Units of a resource that are leased.",
      buildSamples(({ used }) => used),
    ),
    createFamily(
      "resource_waiters",
      "Runs that wait for units of a resource.",
      buildSamples(({ waiting }) => waiting),
    ),
    createMetric(
      "resources_left_out",
      "Resources that have no series of their own.",
      shares.length - shown.length,
    ),
  ];
}
