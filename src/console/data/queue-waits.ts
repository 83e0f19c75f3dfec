import type { NamedQueue } from "../../model/snapshot/snapshot.ts";
import { isHolding } from "../../protocol/admission.ts";

/** Who waits in a queue. */
export interface QueueWaits {
  count: number;
  /** When the longest wait began, ms since the epoch; undefined if no ticket states it. */
  since: number | undefined;
}

/** Waits of queues that have not changed: a queue may have many thousand entries. */
const known = new WeakMap<NamedQueue, QueueWaits>();

/** Counts the waiters of a queue. */
export function getQueueWaits(queue: NamedQueue): QueueWaits {
  const found = known.get(queue);
  if (found !== undefined) return found;
  const waits: QueueWaits = { count: 0, since: undefined };
  for (const entry of queue.entries) {
    if (isHolding(entry)) continue;
    waits.count += 1;
    const at = entry.ticket?.enqueuedAt;
    if (at !== undefined && at < (waits.since ?? Number.POSITIVE_INFINITY)) waits.since = at;
  }
  known.set(queue, waits);
  return waits;
}
