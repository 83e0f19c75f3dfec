import type { Explanation } from "../../../model/explain/explain.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import { findNamedQueue, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { isHolding } from "../../../protocol/admission.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import { readSnapshotRanges, toSingleKeyRange } from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";

/**
 * Reads what explains why nothing else gets a held lock. Runs behind the holder wait with one ticket each, and ask for
 * their leases only when it is their turn, so no other queue is needed.
 * @returns undefined if the queue is not in this state: then everything must be read
 */
export async function readLockSnapshot(context: CommandContext, name: string): Promise<Snapshot | undefined> {
  const { keys } = context;
  const queues = [
    keys.getQueueRange("lock", name),
    keys.getQueueRange("resource", name),
    toSingleKeyRange(keys.history(name)),
  ];
  const snapshot = await readSnapshotRanges(context, ["resourceConfigs", "groups", "drains"], queues);
  const [first, second] = findNamedQueue(snapshot, "lock", name)?.entries ?? [];
  const isPlain = isHolding(first) && !isHolding(second) && snapshot.queues.size === 1;
  return isPlain ? snapshot : undefined;
}

/** Adds the histories of the locks that these runs wait for, at the revision of the snapshot: estimates need them. */
export async function addHistories(
  context: CommandContext,
  snapshot: Snapshot,
  claims: readonly Claim[],
): Promise<Snapshot> {
  const stands = claims.flatMap((claim) => claim.entries);
  const locks = new Set(stands.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : [])));
  if (locks.size === 0) return snapshot;
  const keys = [...locks].map((name) => toSingleKeyRange(context.keys.history(name)));
  const past = await readSnapshotRanges(context, [], keys, snapshot.revision);
  return { ...snapshot, histories: past.histories };
}

/** Lists the tickets whose runners an explanation depends on, most important first. */
export function listConcernedEntries(explanations: readonly Explanation[]): QueueEntry[] {
  const own = explanations.flatMap(({ claim }) => claim.entries.map(({ entry }) => entry));
  const obstacles = explanations.flatMap((explanation) => explanation.obstacles);
  const holders = obstacles.flatMap(({ ahead, heldBehind }) => [...ahead.filter(isHolding), ...heldBehind]);
  return [...own, ...holders, ...obstacles.flatMap(({ ahead }) => ahead)];
}
