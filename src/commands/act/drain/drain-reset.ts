import {
  computeDrainExtent,
  findDrainsOfTarget,
  listHeldEntries,
} from "../../../model/preview/drain-extent.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import { type DrainTarget, formatAuditTarget, hasEnded } from "../../../protocol/drain.ts";
import { guardRevision } from "../../../protocol/guards.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import { requestResets } from "../../../work/operate/reset.ts";
import { readSnapshot, SCOPE_COLLECTIONS } from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";

/** A request to end the holders in the scope of a drain. */
export interface HolderResetRequest {
  target: DrainTarget;
  reason: string | undefined;
  /** Runs that may be ended; undefined for all. */
  shown: ReadonlySet<string> | undefined;
}

/** Runs that were asked to end (`asked`), and holders that were not shown when the user gave the order (`spared`). */
export interface HolderResetResult {
  asked: ReadonlySet<string>;
  spared: readonly Claim[];
}

/**
 * Asks the holders in a drained scope to end, once each. Tickets that cannot be read are skipped. If the drain was
 * lifted, no run is asked: its holders may have come after it.
 * @throws SignalboxError 77, StoreError
 */
export async function resetHolders(
  context: CommandContext,
  { target, reason, shown }: HolderResetRequest,
): Promise<HolderResetResult> {
  const asked = new Set<string>();
  for (;;) {
    const wall = context.clock.getWallTime();
    const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
    const [drain] = findDrainsOfTarget(snapshot, target).filter((one) => !hasEnded(one, wall));
    if (drain === undefined) return { asked, spared: [] };
    const { holders } = computeDrainExtent(snapshot, target, wall);
    const isMeant = ({ run }: Claim) => shown === undefined || shown.has(run);
    const entries = holders.filter(isMeant).flatMap(listHeldEntries).filter(isToBeAsked);
    for (const { run } of entries) asked.add(run);
    const eviction = { target: formatAuditTarget(target), places: entries, seen: snapshot.revision, reason };
    const compare = [guardRevision(drain.key, drain.modRevision)];
    const receipt = await requestResets(context, { action: "drain", ...eviction, compare });
    // Changed: a holder has just ended, or the drain was written. Read again.
    if (receipt?.kind !== "changed") return { asked, spared: holders.filter((one) => !isMeant(one)) };
  }
}

function isToBeAsked({ ticket }: QueueEntry): boolean {
  return ticket !== undefined && ticket.reset === undefined;
}
