import { formatDuration } from "../../base/duration.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { type Claim, type ClaimEntry, formatTicketOwner, isHolder } from "../snapshot/claims.ts";
import type { EvictionPreview, UpcomingClaim } from "./eviction-preview.ts";

/** Number of list items shown one per line. Further items are only counted. */
export const SHOWN_LINES = 8;

/**
 * Formats the effect of an eviction as lines of text. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch; undefined leaves out ages and counts, which change as time passes
 */
export function formatEvictionPreview(
  { evicted, freed, next }: EvictionPreview,
  wall: number | undefined,
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
  wall: number | undefined,
  line: (thing: T) => string,
): string[] {
  const lines = things.slice(0, SHOWN_LINES).map((thing) => `${word.padEnd(5)} ${line(thing)}`);
  if (things.length <= SHOWN_LINES) return lines;
  const count = wall === undefined ? "" : `${things.length - SHOWN_LINES} `;
  return [...lines, `${word.padEnd(5)} and ${count}more`];
}

/** Formats one run: its owner, its command, its queue entries and their age, without the age if `wall` is undefined. */
export function formatClaimLine(claim: Claim, wall: number | undefined): string {
  const [first] = claim.entries;
  if (first === undefined) return claim.run;
  const { entry } = first;
  const doing =
    entry.ticket === undefined
      ? ""
      : ` (${[entry.ticket.command, entry.ticket.label].filter(Boolean).join(", ")})`;
  const verb = isHolder(claim) ? "holds" : "waits for";
  return `${formatTicketOwner(entry)}${doing}, ${verb} ${claim.entries.map(formatClaimEntry).join(" and ")}${formatSince(entry, wall)}`;
}

function formatClaimEntry({ queue, entry }: ClaimEntry): string {
  const units = queue.kind === "resource" ? `${entry.ticket?.count ?? "?"} of ` : "lock ";
  const state = entry.ticket?.state;
  return `${units}${queue.name}${state === "admitted" || state === "grace" ? ` (${state})` : ""}`;
}

function formatSince({ ticket }: QueueEntry, wall: number | undefined): string {
  const since = ticket?.grantedAt ?? ticket?.enqueuedAt;
  if (since === undefined || wall === undefined) return "";
  return `, for ${formatDuration(Math.max(0, Math.floor((wall - since) / 1000) * 1000))}`;
}

function formatUpcoming({ claim, drains }: UpcomingClaim, wall: number | undefined): string {
  const [drain] = drains;
  const stopped = drain === undefined ? "" : `; but ${formatDrainLine(drain)}`;
  return `${formatClaimLine(claim, wall)}${stopped}`;
}

/** Formats a drain: `lock invoices is drained by ann@web1: new disks`. */
export function formatDrainLine({ scope, name, by, why }: Drain): string {
  const what = scope === "all" ? "everything" : `${scope} ${name}`;
  return `${what} is drained by ${by}${why === undefined ? "" : `: ${why}`}`;
}
