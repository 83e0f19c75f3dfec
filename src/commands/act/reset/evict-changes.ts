import { previewEviction } from "../../../model/preview/eviction-preview.ts";
import { SHOWN_LINES } from "../../../model/preview/eviction-preview-text.ts";
import { describeQueueChanges } from "../../../model/preview/queue-changes.ts";
import { formatTicketOwner } from "../../../model/snapshot/claims.ts";
import { findNamedQueue, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { guardOwned } from "../../../protocol/guards.ts";
import type { QueueKind } from "../../../protocol/keys.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import type { Compare } from "../../../protocol/txn.ts";
import { parseRevisionFlag } from "../../command-line/flags.ts";
import { QUEUE_COLLECTIONS, readSnapshot, readSnapshotAt } from "../../read-snapshot.ts";
import type { ActionContext } from "../../store-command.ts";

/** The tickets and queues of an eviction, for any snapshot. */
export interface EvictionScope {
  /** Finds the tickets that the eviction ends. */
  findEntries(snapshot: Snapshot): readonly QueueEntry[];
  /** The queues of these tickets. */
  queues: readonly { kind: QueueKind; name: string }[];
}

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

/** Changes between the snapshot that the operator saw and a later one. */
interface EvictionChanges {
  /** Changes to what the eviction affects, one sentence each. If there are any, the eviction is refused. */
  atStake: readonly string[];
  /** Other tickets that came to or left the queues. They are reported and do not refuse the eviction. */
  others: { come: number; gone: number };
}

/**
 * Compares what an eviction affects: the tickets that it ends, and the runs that were shown as next.
 * @param wall  wall clock, ms since the epoch
 */
function computeEvictionChanges(
  scope: EvictionScope,
  before: Snapshot,
  after: Snapshot,
  wall: number,
): EvictionChanges {
  const [ended, ends] = [scope.findEntries(before), scope.findEntries(after)];
  const isAtStake = collectKeys([...ended, ...ends]);
  const queues = scope.queues.map(({ kind, name }) => ({
    before: findNamedQueue(before, kind, name)?.entries ?? [],
    after: findNamedQueue(after, kind, name)?.entries ?? [],
  }));
  const filterAtStake = (entries: readonly QueueEntry[]) => entries.filter(({ key }) => isAtStake.has(key));
  const moved = queues.flatMap((queue) =>
    describeQueueChanges(filterAtStake(queue.before), filterAtStake(queue.after)),
  );
  const then = collectKeys(queues.flatMap((queue) => queue.before));
  const now = collectKeys(queues.flatMap((queue) => queue.after));
  const countMissing = (from: ReadonlySet<string>, to: ReadonlySet<string>) =>
    [...from].filter((key) => !to.has(key) && !isAtStake.has(key)).length;
  return {
    atStake: [...new Set([...moved, ...describeNextChanges(ended, before, ends, after, wall)])],
    others: { come: countMissing(now, then), gone: countMissing(then, now) },
  };
}

/** Describes runs that were shown as next and no longer are. Additional next runs are no reason to refuse. */
function describeNextChanges(
  ended: readonly QueueEntry[],
  before: Snapshot,
  ends: readonly QueueEntry[],
  after: Snapshot,
  wall: number,
): string[] {
  const shown = findNextEntries(ended, before, wall);
  if (shown.length === 0) return [];
  const now = findNextEntries(ends, after, wall);
  const runs = new Set(now.map(({ run }) => run));
  const lost = shown.filter(({ run }) => !runs.has(run));
  if (lost.length === 0) return [];
  const [next] = now;
  const instead = next === undefined ? "no waiting run is" : `${formatTicketOwner(next)} is`;
  return lost.map((entry) => `${formatTicketOwner(entry)} is no longer next: ${instead}`);
}

/** Finds the first ticket of each run that would be granted next, limited to the runs that a preview shows. */
function findNextEntries(ended: readonly QueueEntry[], snapshot: Snapshot, wall: number): QueueEntry[] {
  const runs = new Set(ended.map(({ run }) => run));
  const { next } = previewEviction(snapshot, runs, wall);
  return next.slice(0, SHOWN_LINES).flatMap(({ claim: { entries } }) => entries[0]?.entry ?? []);
}

function collectKeys(entries: readonly QueueEntry[]): Set<string> {
  return new Set(entries.map(({ key }) => key));
}
