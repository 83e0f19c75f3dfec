import { formatDuration } from "../base/duration.ts";
import { admit, isHolding, sumHeldUnits } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { QueueEntry } from "../protocol/ticket.ts";
import {
  buildClaims,
  type Claim,
  type ClaimEntry,
  compareClaims,
  formatTicketOwner,
  isHolder,
} from "./claims.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "./snapshot.ts";
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
interface UpcomingClaim {
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
  const viewContext = buildViewContext(snapshot, wall);
  const next = [...candidates].flatMap((run) => {
    const claim = claims.get(run);
    if (claim === undefined || runs.has(run) || isHolder(claim)) return [];
    const isNew = isClaimReady(snapshot, claim, excludeRuns) && !isClaimReady(snapshot, claim);
    return isNew ? [{ claim, drains: listDrainsOnClaim(claim, viewContext) }] : [];
  });
  return {
    evicted,
    freed: sumFreedUnits(touched.values(), excludeRuns),
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
  const { state, shared } = entry.ticket ?? {};
  const words = [
    ...(shared ? ["shared"] : []),
    ...(state === "admitted" || state === "grace" ? [state] : []),
  ];
  return `${units}${queue.name}${words.length > 0 ? ` (${words.join(", ")})` : ""}`;
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
