import { isUnavailable } from "../../../etcd/retry.ts";
import { computeDrainExtent } from "../../../model/preview/drain-extent.ts";
import { formatClaimOwners } from "../../../model/preview/drain-extent-text.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import type { DrainTarget } from "../../../protocol/drain.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";

/**
 * Reads the holders in the scope of an active drain. Nothing else can be granted there. Their commands run, or are
 * about to start: a ticket does not say which.
 * @returns undefined if etcd does not answer; the drain stays active
 */
export async function readCurrentHolders(
  context: CommandContext,
  target: DrainTarget,
): Promise<readonly Claim[] | undefined> {
  try {
    const snapshot = await readSnapshot(context, ["locks", "resources", "groups", "drains"]);
    return computeDrainExtent(snapshot, target, context.clock.getWallTime()).holders;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return undefined;
  }
}

/** Formats the holders as one line. */
export function describeHolders(holders: readonly Claim[] | undefined): string {
  if (holders === undefined) return "cannot reach etcd: the remaining holders are unknown";
  if (holders.length === 0) return "nobody holds anything there";
  return `still held there by ${formatClaimOwners(holders)}; a run that was granted just before the drain may still be starting (--wait waits for all of them)`;
}
