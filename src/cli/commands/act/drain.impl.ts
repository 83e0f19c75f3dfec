import { formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { ConfigError, UsageError } from "../../../core/base/errors.ts";
import { clean, collectTexts, suggestNearest } from "../../../core/base/text.ts";
import { isUnavailable } from "../../../core/etcd/store.ts";
import { listGroupHosts } from "../../../core/fleet/groups.ts";
import { type Drain, type DrainTarget, hasEnded } from "../../../core/protocol/drain.ts";
import { liftDrains, putDrain } from "../../../site/operate/drain.ts";
import type { Claim } from "../../../site/state/claims.ts";
import {
  computeDrainExtent,
  type DrainExtent,
  findDrainsOfTarget,
  findOtherDrains,
} from "../../../site/state/drain-extent.ts";
import { buildGroupMembers, type Collection, type Snapshot } from "../../../site/state/snapshot.ts";
import { type ActionEnd, createActionCommand, performAction, refuseIfChanged } from "../../frame/action.ts";
import type { ActionOutcome, DrainResult, UndrainResult } from "../../frame/outcome.ts";
import {
  checkPastRevision,
  QUEUE_COLLECTIONS,
  readSnapshot,
  readSnapshotAt,
  SCOPE_COLLECTIONS,
} from "../../frame/read-snapshot.ts";
import type { ActionContext, CommandContext } from "../../frame/store-command.ts";
import { formatClaimOwners, formatDrainExtent } from "../../views/drain-extent.ts";
import { describeDrainChanges, describeDrainTarget, formatDrainWithEnd } from "../../views/drain-lines.ts";
import { findUnknownNameNote, parseDrainTarget } from "../drain-target.ts";
import type { DrainFlags } from "./drain.ts";
import { waitForDrain } from "./drain-wait.ts";

export const drainTarget = createActionCommand<DrainFlags>(async (context) => {
  const target = parseDrainTarget(context.args);
  checkFlags(context.flags);
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "runnings", "hosts", "workers"]);
  checkGroup(snapshot, target);
  const note = await findUnknownNameNote(context, snapshot, target);
  const wall = context.clock.getWallTime();
  const before = findDrainsOfTarget(snapshot, target);
  const active = before.filter((drain) => !hasEnded(drain, wall));
  const extent = computeDrainExtent(snapshot, target, wall);
  return await applyDrain({ context, snapshot, target, note, before, active, extent });
});

function checkFlags({ for: length, keep, reset, timeout, wait }: DrainFlags): void {
  const isLimited = timeout !== undefined;
  if (length === 0) throw new UsageError("--for must be greater than 0; got 0");
  if (isLimited && !wait) throw new UsageError("--timeout needs --wait; add --wait");
  if (reset && !(wait && isLimited))
    throw new UsageError("--reset needs --wait and --timeout; add --wait --timeout DURATION");
  if (keep && length !== undefined)
    throw new UsageError("--keep and --for exclude each other; leave one of them out");
}

/** Rejects a drain of a group that does not exist or cannot be read: it would drain no host. @throws ConfigError */
function checkGroup(snapshot: Snapshot, { scope, name }: DrainTarget): void {
  if (scope !== "group") return;
  listGroupHosts(buildGroupMembers(snapshot), name);
  const { fault } = snapshot.groups.get(name) ?? {};
  if (fault !== undefined)
    throw new ConfigError(`the group cannot be read, so no host would be drained: ${fault}`);
}

/** A drain to apply, and the snapshot that it is based on. */
interface DrainPlan {
  context: CommandContext<DrainFlags>;
  snapshot: Snapshot;
  target: DrainTarget;
  /** A warning for the user. */
  note: string | undefined;
  /** All drains of the same target that have a key. */
  before: readonly Drain[];
  /** Those of them that have not ended. */
  active: readonly Drain[];
  extent: DrainExtent;
}

/** Applies a drain, and waits for an empty scope if `--wait` is given. */
async function applyDrain(plan: DrainPlan): Promise<ActionOutcome<DrainResult>> {
  const { context, snapshot, target, note, active: before, extent } = plan;
  const { flags } = context;
  const { holders } = extent;
  const seen = await readExpectedSnapshot(context, snapshot);
  const present = findSatisfyingDrain(plan);
  const wall = context.clock.getWallTime();
  const what = `Drain ${clean(describeDrainTarget(target))}`;
  const endsHolders = flags.reset === true;
  const question = endsHolders ? `${what}, and end what still runs there after the timeout?` : `${what}?`;
  return await performAction<DrainResult>(context, {
    planned: {
      kind: "drain",
      revision: snapshot.revision,
      target,
      extent,
      drain: flags["dry-run"] ? present : undefined,
      before,
      holders,
      endsHolders,
    },
    compare: () => refuseIfChanged(seen === undefined ? [] : describeScopeChanges(seen, snapshot, target)),
    listNotes: () => collectTexts([note]),
    describe: (time) => formatPreview(plan, present, time),
    question: present === undefined || endsHolders ? question : undefined,
    write: () => writeDrain(plan, present),
    wait: flags.wait
      ? async (record, { outcome, result = {} }) => {
          const shown = findShownHolders(plan, seen, wall);
          const {
            kind,
            line,
            holders: left,
          } = await waitForDrain(context, { target, holders, shown, record });
          const told = { messages: [line], result: { ...result, holders: left } };
          return { outcome: kind === "empty" ? outcome : kind, ...told };
        }
      : undefined,
    stays: `${describeDrainTarget(target)} stays drained`,
  });
}

/** Finds an active drain that needs no change. */
function findSatisfyingDrain({ context: { flags }, active }: DrainPlan): Drain | undefined {
  const { for: length, keep, reason } = flags;
  if (keep) return active[0];
  if (length !== undefined) return undefined;
  return active.find(({ until, why }) => until === undefined && (reason === undefined || reason === why));
}

/** Writes the drain, unless there is one that needs no change. */
async function writeDrain(plan: DrainPlan, present: Drain | undefined): Promise<ActionEnd<DrainResult>> {
  const { context, active, extent } = plan;
  const isNew = present === undefined;
  const { drain, receipt } = isNew ? await putPlannedDrain(plan) : { drain: present, receipt: undefined };
  if (receipt?.kind === "changed") return { outcome: "changed", messages: await readScopeChanges(plan) };
  const outcome = isNew ? (active.length > 0 ? "replaced" : "drained") : "standing";
  const lines = isNew
    ? [formatDrainWithEnd(drain), ...listReplaced(plan)]
    : [`nothing to change: ${formatDrainWithEnd(drain)}`];
  if (context.flags.wait) return { outcome, messages: lines, result: { drain }, receipt };
  // Other runs may have been granted between the preview and the drain.
  const holders = isNew ? await readCurrentHolders(context, drain) : extent.holders;
  const result = { drain, holders: holders ?? extent.holders };
  return { outcome, messages: [...lines, describeHolders(holders)], result };
}

function putPlannedDrain(plan: DrainPlan): ReturnType<typeof putDrain> {
  const { context, target, snapshot, before, active } = plan;
  const { for: length, reason = active[0]?.why } = context.flags;
  return putDrain(context, {
    target,
    until: length === undefined ? undefined : context.clock.getWallTime() + length,
    instead: before,
    seen: snapshot.revision,
    reason,
    // No group has changed. `putDrain` guards the existing drains of the target.
    compare:
      target.scope === "group"
        ? [{ ...context.keys.groups(), target: "mod", is: "less", value: snapshot.revision + 1n }]
        : [],
    outcome: length === undefined ? "drained" : `drained for ${formatDuration(length)}`,
  });
}

function listReplaced({ active }: DrainPlan): string[] {
  return active.map((drain) => `replaces: ${formatDrainWithEnd(drain)}`);
}

/** @param wall  as in `formatDrainExtent` */
function formatPreview(plan: DrainPlan, present: Drain | undefined, wall: WallTime | undefined): string[] {
  const { context, snapshot, target, extent } = plan;
  const others = findOtherDrains(snapshot, target, context.clock.getWallTime());
  return [
    ...(present === undefined ? listReplaced(plan) : [`nothing to change: ${formatDrainWithEnd(present)}`]),
    ...formatDrainExtent(extent, target, wall),
    ...others.map((drain) => `also  ${formatDrainWithEnd(drain)}`),
  ];
}

/** Describes what other operators changed between the read and the write. */
async function readScopeChanges({ context, snapshot, target }: DrainPlan): Promise<string[]> {
  const now = await readSnapshot(context, DECISIVE_COLLECTIONS);
  return describeScopeChanges(snapshot, now, target);
}

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
async function readExpectedSnapshot(
  context: CommandContext<DrainFlags>,
  now: Snapshot,
): Promise<Snapshot | undefined> {
  const expected = context.flags["expect-revision"];
  if (expected === undefined) return undefined;
  // Only `--reset` needs the holders at that revision.
  const collections = context.flags.reset ? SCOPE_COLLECTIONS : DECISIVE_COLLECTIONS;
  return await readSnapshotAt(context, collections, expected, now);
}

/**
 * Describes, one sentence each, the changes to the drains of a target and to the groups that decide which hosts it
 * covers.
 */
function describeScopeChanges(before: Snapshot, after: Snapshot, target: DrainTarget): string[] {
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
 * Finds the runs that `--reset` may end: the holders that a person, or a script with `--expect-revision`, was shown.
 * @param seen  the snapshot at the expected revision
 * @returns undefined if no holders were shown: then every remaining holder may be ended
 */
function findShownHolders(
  { context, snapshot, target }: DrainPlan,
  seen: Snapshot | undefined,
  wall: WallTime,
): ReadonlySet<string> | undefined {
  const shown = seen ?? (context.flags.yes ? undefined : snapshot);
  return shown && new Set(computeDrainExtent(shown, target, wall).holders.map(({ run }) => run));
}

/**
 * Reads the holders in the scope of an active drain. Nothing else can be granted there. Their commands run, or are
 * about to start: a ticket does not say which.
 * @returns undefined if etcd does not answer; the drain stays active
 */
async function readCurrentHolders(
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
function describeHolders(holders: readonly Claim[] | undefined): string {
  if (holders === undefined) return "cannot reach etcd: the remaining holders are unknown";
  if (holders.length === 0) return "nobody holds anything there";
  return `still held there by ${formatClaimOwners(holders)}; a run that was granted just before the drain may still be starting (--wait waits for all of them)`;
}

/** Lifts the drains of a target. */
export const undrainTarget = createActionCommand(async (context): Promise<ActionOutcome<UndrainResult>> => {
  const target = parseDrainTarget(context.args);
  const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
  const { revision } = snapshot;
  const wall = context.clock.getWallTime();
  const drains = findDrainsOfTarget(snapshot, target);
  const others = findOtherDrains(snapshot, target, wall);
  const waiters = computeDrainExtent(snapshot, target, wall).waiters.map(({ claim }) => claim);
  const stopped = others.map((drain) => `but ${formatDrainWithEnd(drain)}`);
  const queues =
    waiters.length === 0 ? "its queues are empty" : `its queues continue: ${formatClaimOwners(waiters)}`;
  const resumed = stopped.length > 0 ? stopped : [queues];
  return await performAction<UndrainResult>(context, {
    planned: { kind: "undrain", revision, target, drains, others, waiters },
    compare: () => refuseIfChanged(findChangedDrains(context, snapshot, drains)),
    nothing: drains.length === 0 ? [describeNotDrained(snapshot, target), ...stopped] : undefined,
    describe: () => [...drains.map((drain) => `lifts: ${formatDrainWithEnd(drain)}`), ...resumed],
    question: `Undrain ${clean(describeDrainTarget(target))}?`,
    write: async () => {
      const { reason } = context.flags;
      const receipt = await liftDrains(context, { target, drains, seen: revision, reason });
      if (receipt?.kind !== "changed") {
        const lifted = drains.map((drain) => `lifted: ${formatDrainWithEnd(drain)}`);
        return { outcome: "lifted", messages: [...lifted, ...resumed] };
      }
      const now = findDrainsOfTarget(await readSnapshot(context, ["drains"]), target);
      return { outcome: "changed", messages: describeDrainChanges(drains, now) };
    },
  });
});

/** Finds drains that changed since the expected revision. Runs that came or left do not count. */
function findChangedDrains(context: ActionContext, snapshot: Snapshot, drains: readonly Drain[]): string[] {
  const expected = context.flags["expect-revision"];
  if (expected === undefined) return [];
  checkPastRevision("--expect-revision", expected, snapshot.revision);
  return drains
    .filter(({ modRevision }) => modRevision > expected)
    .map((drain) => `new or changed: ${formatDrainWithEnd(drain)}`);
}

function describeNotDrained({ drains }: Snapshot, target: DrainTarget): string {
  const drained = [...drains.values()].filter(({ scope }) => scope === target.scope);
  const names = drained.map(({ name }) => name);
  return `${describeDrainTarget(target)} is not drained${suggestNearest(target.name, names)}`;
}
