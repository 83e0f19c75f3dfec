import type { WallTime } from "../../core/base/clock.ts";
import { type Drain, type DrainTarget, formatAuditTarget } from "../../core/protocol/drain.ts";

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

/** Formats a drain with its end: `lock x is drained by ann@web1: new disks (until 2026-01-31T12:00:00Z)`. */
export function formatDrainWithEnd(drain: Drain): string {
  return drain.until === undefined
    ? formatDrainLine(drain)
    : `${formatDrainLine(drain)} (until ${formatInstantSeconds(drain.until)})`;
}

/** Formats an instant to the second. @param wall  other programs may have stored any number */
export function formatInstantSeconds(wall: WallTime): string {
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
