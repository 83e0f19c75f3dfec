import type { Queue, QueueEntry } from "../../protocol/ticket.ts";
import { formatTicketOwner, getEntryState } from "../snapshot/claims.ts";

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
