import type { WallTime } from "../../core/base/clock.ts";
import { formatDuration } from "../../core/base/duration.ts";
import { memoize } from "../../core/base/memoize.ts";
import { collectTexts } from "../../core/base/text.ts";
import { admit, isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import { type Drain, type DrainTarget, formatAuditTarget } from "../../core/protocol/drain.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry } from "../../core/protocol/ticket.ts";
import {
  buildClaims,
  type Claim,
  type ClaimEntry,
  compareClaims,
  formatClaimOwner,
  getHeldSince,
  isHolder,
} from "./claims.ts";
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
interface UpcomingClaim {
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

/** Formats a drain: `lock invoices is drained by ann@web1: new disks`. */
export function formatDrainLine(drain: Drain): string {
  return `${describeDrainTarget(drain)} is drained by ${drain.by}${formatReason(drain.why)}`;
}

/** Describes the target of a drain: `host web1.example.com`, `everything`. */
export function describeDrainTarget(target: DrainTarget): string {
  return target.scope === "all" ? "everything" : formatAuditTarget(target);
}

/** Formats the reason that follows a statement: `: new disks`; empty without one. */
export function formatReason(why: string | undefined): string {
  return why === undefined ? "" : `: ${why}`;
}
