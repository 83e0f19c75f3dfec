import { isHolding } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { findNamedQueue, type Snapshot } from "../snapshot/snapshot.ts";

/**
 * Finds the queue entries that a reset of a lock or resource applies to: the holders, and tickets that cannot be read.
 * If there are none, the admitted run of a lock that still waits for its leases. With `run`, the entry of that run in
 * any state.
 */
export function findResetTargets(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  run?: string,
): readonly QueueEntry[] {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  if (run !== undefined) return entries.filter((entry) => entry.run === run);
  const holding = entries.filter((entry) => isHolding(entry) || entry.ticket === undefined);
  if (holding.length > 0) return holding;
  return entries.filter(({ ticket }) => kind === "lock" && ticket?.state === "admitted");
}
