import { formatDuration, type WallTime } from "../../core/base/clock.ts";
import { collectTexts } from "../../core/base/text.ts";
import type { Queue, QueueEntry } from "../../core/protocol/ticket.ts";
import {
  type Claim,
  type ClaimEntry,
  getEntryState,
  getHeldSince,
  isHolder,
} from "../../site/state/claims.ts";
import type { EvictionPreview, UpcomingClaim } from "../../site/state/eviction-preview.ts";
import type { Execution } from "../../site/state/snapshot.ts";
import { formatDrainLine } from "./drain-lines.ts";

/** Returns the owner of a ticket as `HOST:PID`, for example `web1.example.com:3121`. The text is not cleaned. */
export function formatTicketOwner({ run, ticket }: QueueEntry): string {
  return ticket === undefined ? `malformed ticket ${run}` : `${ticket.host}:${ticket.pid}`;
}

/** Returns the owner of a claim as `HOST:PID`; for a task without leases, after its schedule. */
export function formatClaimOwner({ run, entries: [first], task, lost }: Claim): string {
  if (first !== undefined) return formatTicketOwner(first.entry);
  if (lost !== undefined) return `schedule ${lost.id}, whose worker's session has ended`;
  return task === undefined ? run : `schedule ${task.id} on ${formatExecutionOwner(task)}`;
}

/** Returns the worker of a running occurrence as `HOST:PID`. */
export function formatExecutionOwner({ value, key }: Execution): string {
  return value === undefined ? `malformed ${key}` : `${value.host}:${value.pid}`;
}

/** Number of list items shown one per line. Further items are only counted. */
export const SHOWN_LINES = 8;

/**
 * Formats the effect of an eviction as lines of text. Texts from etcd are not cleaned.
 * @param wall  undefined leaves out ages and counts, which change as time passes
 */
export function formatEvictionPreview(
  { evicted, freed, next }: EvictionPreview,
  wall: WallTime | undefined,
): string[] {
  const units = freed
    .filter(({ kind }) => kind === "resource")
    .map(({ name, units }) => `${units} of ${name}`);
  return [
    ...formatLimitedList("ends", evicted, wall, (claim) => formatClaimLine(claim, wall)),
    ...(units.length === 0 ? [] : [`frees ${units.join(", ")}`]),
    ...(next.length === 0
      ? ["next  none of the waiting runs"]
      : formatLimitedList("next", next, wall, (upcoming) => formatUpcoming(upcoming, wall))),
  ];
}

/** Formats the first `SHOWN_LINES` items of a list, one per line, and the number of the others. Undefined `wall`: as above. */
export function formatLimitedList<T>(
  word: string,
  things: readonly T[],
  wall: WallTime | undefined,
  line: (thing: T) => string,
  width = 5,
): string[] {
  const start = word.padEnd(width);
  const lines = things.slice(0, SHOWN_LINES).map((thing) => `${start} ${line(thing)}`);
  if (things.length <= SHOWN_LINES) return lines;
  const count = wall === undefined ? "" : `${things.length - SHOWN_LINES} `;
  return [...lines, `${start} and ${count}more`];
}

/** Formats one run: its owner, its command, its queue entries and their age, without the age if `wall` is undefined. */
export function formatClaimLine(claim: Claim, wall: WallTime | undefined): string {
  const [first] = claim.entries;
  if (first === undefined) return formatClaimOwner(claim);
  const { ticket } = first.entry;
  const doing = ticket && ` (${[ticket.command, ticket.label].filter(Boolean).join(", ")})`;
  const verb = isHolder(claim) ? "holds" : "waits for";
  return `${formatClaimOwner(claim)}${doing ?? ""}, ${verb} ${claim.entries.map(formatClaimEntry).join(" and ")}${formatSince(first.entry, wall)}`;
}

function formatClaimEntry({ queue, entry }: ClaimEntry): string {
  const units = queue.kind === "resource" ? `${entry.ticket?.count ?? "?"} of ` : "lock ";
  const { state, shared } = entry.ticket ?? {};
  const words = collectTexts([shared && "shared", (state === "admitted" || state === "grace") && state]);
  return `${units}${queue.name}${words.length > 0 ? ` (${words.join(", ")})` : ""}`;
}

function formatSince({ ticket }: QueueEntry, wall: WallTime | undefined): string {
  const since = getHeldSince(ticket);
  if (since === undefined || wall === undefined) return "";
  return `, for ${formatDuration(Math.max(0, Math.floor((wall - since) / 1000) * 1000))}`;
}

function formatUpcoming({ claim, drains }: UpcomingClaim, wall: WallTime | undefined): string {
  const [drain] = drains;
  const stopped = drain && `; but ${formatDrainLine(drain)}`;
  return `${formatClaimLine(claim, wall)}${stopped ?? ""}`;
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
