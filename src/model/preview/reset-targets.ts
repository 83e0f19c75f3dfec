import { isHolding } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Queue, QueueEntry } from "../../protocol/ticket.ts";
import { formatTicketOwner, getEntryState } from "../snapshot/claims.ts";
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

/**
 * Describes the changes of a queue between two reads, one sentence for each entry, in the previous queue order, new
 * entries last. Empty without changes. Texts from tickets are not cleaned.
 */
export function describeQueueChanges(before: Queue, after: Queue): string[] {
  const now = new Map(after.map((entry) => [entry.key, entry]));
  const then = new Set(before.map(({ key }) => key));
  const moved = before.flatMap((entry) => describeEntryChange(entry, now.get(entry.key)) ?? []);
  const arrived = after.filter(({ key }) => !then.has(key));
  return [
    ...moved,
    ...arrived.map((entry) => `${formatTicketOwner(entry)} has joined (${getEntryState(entry)})`),
  ];
}

function describeEntryChange(before: QueueEntry, after: QueueEntry | undefined): string | undefined {
  const who = formatTicketOwner(before);
  if (after === undefined || after.createRevision !== before.createRevision)
    return `${who} has left (it was ${getEntryState(before)})`;
  if (after.modRevision === before.modRevision) return undefined;
  const reset = after.ticket?.reset;
  if (reset !== undefined && before.ticket?.reset === undefined)
    return `${who} was asked to end by ${reset.by}`;
  if (getEntryState(before) !== getEntryState(after))
    return `${who} was ${getEntryState(before)}, is ${getEntryState(after)}`;
  return `the ticket of ${who} was written again`;
}
