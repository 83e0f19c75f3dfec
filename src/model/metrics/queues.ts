import { isHolding } from "../../protocol/admission.ts";
import { computeShares } from "../rows/shares.ts";
import type { NamedQueue, Snapshot } from "../snapshot/snapshot.ts";
import { createMetric, type ItemMetric, type MetricFamily, measureItems } from "./metric-family.ts";

/** Maximum number of locks with their own series: the locks with the longest wait. */
const MOST_LOCKS = 100;
/** Maximum number of resources with their own series. */
const MOST_RESOURCES = 2_000;

/** Measures locks and resources. @param wall  ms since the epoch */
export function measureQueues(snapshot: Snapshot, wall: number): MetricFamily[] {
  const all = [...snapshot.queues.values()].map(computeQueueTotals);
  const locks = { kind: "lock", totals: all.filter(({ queue }) => queue.kind === "lock") };
  const resources = { kind: "resource", totals: all.filter(({ queue }) => queue.kind === "resource") };
  return [
    ...measureItems([locks, resources], ({ kind }) => ({ kind }), listKindMetrics(wall)),
    ...measureLocks(locks.totals, wall),
    ...measureResources(snapshot),
  ];
}

/** Lists the metrics of all locks together, and of all resources together. */
function listKindMetrics(wall: number): ItemMetric<{ totals: readonly QueueTotals[] }>[] {
  return [
    ["queues", "Locks and resources that are held or waited for.", ({ totals }) => totals.length],
    [
      "holders",
      "Runs that hold a lock or units.",
      ({ totals }) => totals.reduce((sum, { holders }) => sum + holders, 0),
    ],
    [
      "waiters",
      "Runs that wait for a lock or units.",
      ({ totals }) => totals.reduce((sum, { waiters }) => sum + waiters, 0),
    ],
    [
      "waited_queues",
      "Locks and resources with waiting runs.",
      ({ totals }) => totals.filter(({ waiters }) => waiters > 0).length,
    ],
    [
      "oldest_wait_seconds",
      "How long the longest waiting run has waited.",
      ({ totals }) =>
        computeSecondsSince(
          findLeast(totals, ({ waitsSince }) => waitsSince),
          wall,
        ),
    ],
    [
      "oldest_hold_seconds",
      "How long the longest holding run has held.",
      ({ totals }) =>
        computeSecondsSince(
          findLeast(totals, ({ heldSince }) => heldSince),
          wall,
        ),
    ],
  ];
}

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
  return [
    ...measureItems(shown, ({ queue }) => ({ lock: queue.name }), [
      ["lock_waiters", "Runs that wait for a lock.", ({ waiters }) => waiters],
      [
        "lock_oldest_wait_seconds",
        "How long the longest waiting run of a lock has waited.",
        ({ waitsSince }) => computeSecondsSince(waitsSince, wall),
      ],
    ]),
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
  return [
    ...measureItems(shown, ({ name }) => ({ resource: name }), [
      ["resource_units", "Total units of a resource.", ({ total }) => total],
      ["resource_used_units", "Units of a resource that are leased.", ({ used }) => used],
      ["resource_waiters", "Runs that wait for units of a resource.", ({ waiting }) => waiting],
    ]),
    createMetric(
      "resources_left_out",
      "Resources that have no series of their own.",
      shares.length - shown.length,
    ),
  ];
}
