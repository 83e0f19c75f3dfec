import { isUnavailable } from "../../../etcd/retry.ts";
import { computeDrainExtent, findDrainsOfTarget } from "../../../model/preview/drain-extent.ts";
import { describeDrainChanges, formatClaimOwners } from "../../../model/preview/drain-extent-text.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import type { Collection, Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { DrainTarget } from "../../../protocol/drain.ts";
import type { Keys } from "../../../protocol/keys.ts";
import type { Compare } from "../../../protocol/txn.ts";
import { parseRevisionFlag } from "../../command-line/flags.ts";
import { readSnapshot, readSnapshotAt, SCOPE_COLLECTIONS } from "../../read-snapshot.ts";
import type { Call } from "../../spec.ts";
import type { ActionContext, CommandContext } from "../../store-command.ts";

/**
 * Collections that decide what a drain affects. Runs come and go in the scope at any time, so they never refuse a
 * drain.
 */
const DECISIVE_COLLECTIONS: readonly Collection[] = ["groups", "drains"];

/**
 * Reads the snapshot at the revision of `--expect-revision`.
 * @returns undefined without the flag
 * @throws as `readSnapshotAt`
 */
export async function readExpectedSnapshot(
  context: ActionContext,
  now: Snapshot,
): Promise<Snapshot | undefined> {
  const expected = parseRevisionFlag(context.call, "expect-revision");
  if (expected === undefined) return undefined;
  // Only `--reset` needs the holders at that revision.
  const collections: readonly Collection[] = context.call.flags.reset
    ? ["locks", "resources", ...DECISIVE_COLLECTIONS]
    : DECISIVE_COLLECTIONS;
  return await readSnapshotAt(context, collections, expected, now);
}

/**
 * Describes, one sentence each, the changes to the drains of a target and to the groups that decide which hosts it
 * covers.
 */
export function describeScopeChanges(before: Snapshot, after: Snapshot, target: DrainTarget): string[] {
  return [
    ...describeDrainChanges(findDrainsOfTarget(before, target), findDrainsOfTarget(after, target)),
    ...(target.scope === "group" ? describeGroupChanges(before, after) : []),
  ];
}

function describeGroupChanges(before: Snapshot, after: Snapshot): string[] {
  const names = new Set([...before.groups.keys(), ...after.groups.keys()]);
  const isChanged = (name: string) =>
    before.groups.get(name)?.modRevision !== after.groups.get(name)?.modRevision;
  return [...names].filter(isChanged).map((name) => `group ${name} has changed`);
}

/**
 * Builds the guards of a drain beside those of existing drains of the same target: for a group, no group has changed.
 */
export function buildDrainGuards(keys: Keys, { revision }: Snapshot, { scope }: DrainTarget): Compare[] {
  return scope === "group" ? [{ ...keys.groups(), target: "mod", is: "less", value: revision + 1n }] : [];
}

/**
 * Finds the runs that `--reset` may end: the holders that a person, or a script with `--expect-revision`, was shown.
 * @param before  the snapshot at the expected revision
 * @returns undefined if no holders were shown: then every remaining holder may be ended
 */
export function findShownHolders(
  call: Call,
  {
    before,
    now,
    target,
    wall,
  }: { before: Snapshot | undefined; now: Snapshot; target: DrainTarget; wall: number },
): ReadonlySet<string> | undefined {
  const shown = before ?? (call.flags.yes ? undefined : now);
  return shown && new Set(computeDrainExtent(shown, target, wall).holders.map(({ run }) => run));
}

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
    const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
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
