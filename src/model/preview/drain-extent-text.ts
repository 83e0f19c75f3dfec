import type { Drain } from "../../protocol/drain.ts";
import { type DrainTarget, formatAuditTarget } from "../../protocol/drain.ts";
import { type Claim, formatTicketOwner } from "../snapshot/claims.ts";
import { formatShortList } from "../views/short-list.ts";
import type { DrainExtent, WaiterFate } from "./drain-extent.ts";
import { formatClaimLine, formatDrainLine, formatLimitedList } from "./eviction-preview-text.ts";

/** Number of names in a short list. */
const SHORT = 5;

const FATES: Record<WaiterFate, string> = {
  stays: "keeps its place",
  leaves: "leaves its queues, and claims again once it may",
  depends: "keeps its place with --wait, gives up without",
};

/** Describes the target of a drain: `host web1.example.com`, `everything`. */
export function describeDrainTarget(target: DrainTarget): string {
  return target.scope === "all" ? "everything" : formatAuditTarget(target);
}

/**
 * Formats the effect of a drain as lines of text. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch; undefined leaves out ages and counts, which change as time passes
 */
export function formatDrainExtent(
  { holders, waiters, hosts }: DrainExtent,
  target: DrainTarget,
  wall: number | undefined,
): string[] {
  return [
    ...(target.scope === "group"
      ? [`hosts ${hosts.length === 0 ? "none" : formatShortList(hosts, SHORT)}`]
      : []),
    ...(holders.length === 0
      ? ["holds none"]
      : formatLimitedList("holds", holders, wall, (claim) => `${formatClaimLine(claim, wall)}; goes on`)),
    ...(waiters.length === 0
      ? ["waits none"]
      : formatLimitedList(
          "waits",
          waiters,
          wall,
          ({ claim, fate }) => `${formatClaimLine(claim, wall)}; ${FATES[fate]}`,
        )),
  ];
}

/** Formats the owners of claims: the first 5, and the number of the others. */
export function formatClaimOwners(claims: readonly Claim[]): string {
  const owners = claims.map(({ run, entries: [first] }) => (first ? formatTicketOwner(first.entry) : run));
  return formatShortList(owners, SHORT);
}

/** Formats a drain with its end: `lock x is drained by ann@web1: new disks (until 2026-01-31T12:00:00Z)`. */
export function formatDrainWithEnd(drain: Drain): string {
  return drain.until === undefined
    ? formatDrainLine(drain)
    : `${formatDrainLine(drain)} (until ${formatInstantSeconds(drain.until)})`;
}

/** Formats an instant to the second. @param wall  ms since the epoch; other programs may have stored any number */
export function formatInstantSeconds(wall: number): string {
  if (!(Math.abs(wall) <= 8.64e15)) return "some time";
  return `${new Date(wall).toISOString().slice(0, -5)}Z`;
}

/** Describes how the drains of one target changed between two reads, one sentence for each drain. */
export function describeDrainChanges(before: readonly Drain[], after: readonly Drain[]): string[] {
  const then = new Map(before.map((drain) => [drain.key, drain]));
  const now = new Set(after.map(({ key }) => key));
  const lifted = before
    .filter(({ key }) => !now.has(key))
    .map((drain) => `lifted: ${formatDrainLine(drain)}`);
  const put = after.flatMap((drain) => {
    const known = then.get(drain.key);
    if (known?.modRevision === drain.modRevision) return [];
    return [`${known === undefined ? "new" : "changed"}: ${formatDrainWithEnd(drain)}`];
  });
  return [...lifted, ...put];
}
