import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { guardOwned } from "../../../protocol/guards.ts";
import type { Compare } from "../../../protocol/txn.ts";
import { parseRevisionFlag } from "../../command-line/flags.ts";
import { QUEUE_COLLECTIONS, readSnapshot, readSnapshotAt } from "../../read-snapshot.ts";
import type { ActionContext } from "../../store-command.ts";
import { computeEvictionChanges, type EvictionScope, findNextEntries } from "./evict-changes.ts";

/** The eviction to guard, and the snapshot that it is based on. */
type GuardedEviction = EvictionScope & { snapshot: Snapshot };

/**
 * Describes what has changed since `--expect-revision` in what the eviction affects, one sentence each. Prints how many
 * other runs came and left.
 * @throws as `readSnapshotAt`
 */
export async function describeChangesSince(
  context: ActionContext,
  plan: GuardedEviction,
): Promise<readonly string[]> {
  const expected = parseRevisionFlag(context.call, "expect-revision");
  if (expected === undefined) return [];
  const before = await readSnapshotAt(context, QUEUE_COLLECTIONS, expected, plan.snapshot);
  const { atStake, others } = computeEvictionChanges(
    plan,
    before,
    plan.snapshot,
    context.clock.getWallTime(),
  );
  if (atStake.length === 0 && others.come + others.gone > 0)
    context.printMessage(
      `since revision ${expected}: ${others.come} runs came, ${others.gone} left; the runs to end are the same`,
    );
  return atStake;
}

/** Describes what other operators changed between the read and the write. @throws StoreError */
export async function readCurrentChanges(
  context: ActionContext,
  plan: GuardedEviction,
): Promise<readonly string[]> {
  const now = await readSnapshot(context, QUEUE_COLLECTIONS);
  const { atStake } = computeEvictionChanges(plan, plan.snapshot, now, context.clock.getWallTime());
  return atStake.length > 0 ? atStake : ["it changed and was reverted; run the command again"];
}

/** Builds the guards that the runs shown as next are still there. Empty if nothing was shown. */
export function buildNextGuards(context: ActionContext, plan: GuardedEviction): Compare[] {
  const isShown = !context.call.flags.yes || parseRevisionFlag(context.call, "expect-revision") !== undefined;
  return isShown
    ? guardOwned(findNextEntries(plan.findEntries(plan.snapshot), plan.snapshot, context.clock.getWallTime()))
    : [];
}
