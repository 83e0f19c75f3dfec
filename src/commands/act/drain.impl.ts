import { formatDuration } from "../../base/duration.ts";
import { ConfigError, UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { clean, collectTexts, suggestNearest } from "../../base/text.ts";
import { isUnavailable } from "../../etcd/retry.ts";
import { listGroupHosts } from "../../fleet/groups.ts";
import { liftDrains, putDrain } from "../../operate/drain.ts";
import type { ActionResult } from "../../operate/operator-action.ts";
import { type Drain, type DrainTarget, hasEnded } from "../../protocol/drain.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Compare } from "../../protocol/txn.ts";
import type { Claim } from "../../state/claims.ts";
import {
  computeDrainExtent,
  type DrainExtent,
  describeDrainChanges,
  findDrainsOfTarget,
  findOtherDrains,
  formatClaimOwners,
  formatDrainExtent,
  formatDrainWithEnd,
} from "../../state/drain-extent.ts";
import { describeDrainTarget } from "../../state/eviction-preview.ts";
import { buildGroupMembers, type Collection, type Snapshot } from "../../state/snapshot.ts";
import type { Call } from "../command.ts";
import { findUnknownNameNote, parseDrainTarget } from "../drain-target.ts";
import { type ActionOutcome, createOutcome, type DrainResult, type UndrainResult } from "../outcome.ts";
import { confirmAction, createActionCommand } from "../print-outcome.ts";
import { readSnapshot, readSnapshotAt, SCOPE_COLLECTIONS } from "../read-snapshot.ts";
import type { ActionContext, CommandContext } from "../store-command.ts";
import type { DrainFlags } from "./drain.ts";
import { DrainWaiter } from "./drain-wait.ts";

const COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
];

export const drainTarget = createActionCommand(async (context: ActionContext<DrainFlags>) => {
  const { call } = context;
  const target = parseDrainTarget(call.args);
  checkFlags(call);
  const snapshot = await readSnapshot(context, COLLECTIONS);
  checkGroup(snapshot, target);
  const note = await findUnknownNameNote(context, snapshot, target);
  return await new DrainCommand(context, { snapshot, target, note }).run();
});

function checkFlags(call: Call<DrainFlags>): void {
  const { flags } = call;
  const isLimited = flags.timeout !== undefined;
  if (flags.for === 0) throw new UsageError("--for must be greater than 0; got 0");
  if (isLimited && !flags.wait) throw new UsageError("--timeout needs --wait; add --wait");
  if (flags.reset && !(flags.wait && isLimited))
    throw new UsageError("--reset needs --wait and --timeout; add --wait --timeout DURATION");
  if (flags.keep && flags.for !== undefined)
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
  snapshot: Snapshot;
  target: DrainTarget;
  /** A warning for the user. */
  note: string | undefined;
}

/** Previews a drain, asks for confirmation, applies it, and waits for an empty scope if `--wait` is given. */
class DrainCommand {
  readonly #context: ActionContext<DrainFlags>;
  readonly #plan: DrainPlan;
  readonly #extent: DrainExtent;
  /** Drains of the same target: `#before` has all that have a key, `#standing` those that have not ended. */
  readonly #before: readonly Drain[];
  readonly #standing: readonly Drain[];
  /** The result of `findShownHolders`. */
  #shown: ReadonlySet<string> | undefined;

  constructor(context: ActionContext<DrainFlags>, plan: DrainPlan) {
    this.#context = context;
    this.#plan = plan;
    const wall = context.clock.getWallTime();
    this.#extent = computeDrainExtent(plan.snapshot, plan.target, wall);
    this.#before = findDrainsOfTarget(plan.snapshot, plan.target);
    this.#standing = this.#before.filter((drain) => !hasEnded(drain, wall));
  }

  async run(): Promise<ActionOutcome<DrainResult>> {
    const { note, target, snapshot } = this.#plan;
    const { flags } = this.#context.call;
    if (note !== undefined) this.#context.printMessage(note);
    const before = await readExpectedSnapshot(this.#context, snapshot);
    const moved = before === undefined ? [] : describeScopeChanges(before, snapshot, target);
    if (moved.length > 0) return this.#createOutcome("changed", moved);
    const present = this.#findSatisfyingDrain();
    const wall = this.#context.clock.getWallTime();
    this.#shown = findShownHolders(this.#context.call, { before, now: snapshot, target, wall });
    if (flags["dry-run"])
      return this.#createOutcome("dry-run", this.#buildPreview(present, wall), {
        drain: present,
        messageKeys: this.#buildPreview(present, undefined),
        repeat: this.#formatRepeatCommand(),
      });
    if (present === undefined || flags.reset) {
      const preview = this.#buildPreview(present, wall);
      if (!(await confirmAction(this.#context, preview, this.#buildQuestion())))
        return this.#createOutcome("declined", ["nothing was done"]);
    }
    if (present !== undefined) return await this.#completeDrain("standing", present);
    const { receipt, drain } = await this.#put();
    if (receipt.kind === "changed") return this.#createOutcome("changed", await this.#readChanges());
    return await this.#completeDrain(this.#standing.length > 0 ? "replaced" : "drained", drain, receipt);
  }

  /** Finds an active drain that needs no change. */
  #findSatisfyingDrain(): Drain | undefined {
    const reason = this.#context.call.flags.reason;
    if (this.#context.call.flags.keep) return this.#standing[0];
    if (this.#context.call.flags.for !== undefined) return undefined;
    return this.#standing.find(
      ({ until, why }) => until === undefined && (reason === undefined || reason === why),
    );
  }

  #put(): ReturnType<typeof putDrain> {
    const { target, snapshot } = this.#plan;
    const length = this.#context.call.flags.for;
    const until = length === undefined ? undefined : this.#context.clock.getWallTime() + length;
    return putDrain(this.#context, {
      target,
      until,
      instead: this.#before,
      seen: snapshot.revision,
      reason: this.#context.call.flags.reason ?? this.#standing[0]?.why,
      compare: buildDrainGuards(this.#context.keys, snapshot, target),
      outcome: length === undefined ? "drained" : `drained for ${formatDuration(length)}`,
    });
  }

  async #completeDrain(
    outcome: DrainResult["outcome"],
    drain: Drain,
    receipt?: ActionResult,
  ): Promise<ActionOutcome<DrainResult>> {
    const { holders } = this.#extent;
    const lines = this.#describeResult(outcome, drain);
    if (!this.#context.call.flags.wait) return await this.#endWithoutWait(outcome, lines, drain);
    for (const line of lines) this.#context.printMessage(line);
    const { target } = this.#plan;
    const emptier = new DrainWaiter(this.#context, { target, holders, shown: this.#shown, receipt });
    const emptied = await emptier.run();
    const final = emptied.kind === "empty" ? outcome : emptied.kind;
    return this.#createOutcome(final, emptied.lines, { drain, holders: emptied.holders });
  }

  /** Reports the current holders: other runs may have been granted between the preview and the drain. */
  async #endWithoutWait(
    outcome: DrainResult["outcome"],
    lines: readonly string[],
    drain: Drain,
  ): Promise<ActionOutcome<DrainResult>> {
    const isNew = outcome !== "standing";
    const holders = isNew ? await readCurrentHolders(this.#context, drain) : this.#extent.holders;
    return this.#createOutcome(outcome, [...lines, describeHolders(holders)], { drain, holders });
  }

  #describeResult(outcome: DrainResult["outcome"], drain: Drain): string[] {
    if (outcome === "standing") return [`nothing to change: ${formatDrainWithEnd(drain)}`];
    return [
      formatDrainWithEnd(drain),
      ...this.#standing.map((old) => `replaces: ${formatDrainWithEnd(old)}`),
    ];
  }

  /** @param wall  as in `formatDrainExtent` */
  #buildPreview(present: Drain | undefined, wall: number | undefined): string[] {
    const { snapshot, target } = this.#plan;
    const others = findOtherDrains(snapshot, target, this.#context.clock.getWallTime());
    const replaced = present === undefined ? this.#standing : [];
    return [
      ...(present === undefined ? [] : [`nothing to change: ${formatDrainWithEnd(present)}`]),
      ...replaced.map((drain) => `replaces: ${formatDrainWithEnd(drain)}`),
      ...formatDrainExtent(this.#extent, target, wall),
      ...others.map((drain) => `also  ${formatDrainWithEnd(drain)}`),
    ];
  }

  #formatRepeatCommand(): string {
    const { snapshot, target } = this.#plan;
    const scope = [target.scope, ...(target.scope === "all" ? [] : [quoteShellWord(target.name)])];
    const { for: length, keep, wait, timeout, reset, reason } = this.#context.call.flags;
    const flags = collectTexts([
      length !== undefined && `--for ${formatDuration(length)}`,
      keep && "--keep",
      wait && "--wait",
      timeout !== undefined && `--timeout ${formatDuration(timeout)}`,
      reset && "--reset",
      reason !== undefined && `--reason ${quoteShellWord(reason)}`,
    ]);
    const words = ["signalbox drain", ...scope, ...flags, "--expect-revision", snapshot.revision, "--yes"];
    return words.join(" ");
  }

  #buildQuestion(): string {
    const { reset } = this.#context.call.flags;
    const what = `Drain ${clean(describeDrainTarget(this.#plan.target))}`;
    return reset ? `${what}, and end what still runs there after the timeout?` : `${what}?`;
  }

  /** Describes what other operators changed between the read and the write. */
  async #readChanges(): Promise<string[]> {
    const { snapshot, target } = this.#plan;
    const changes = describeScopeChanges(
      snapshot,
      await readSnapshot(this.#context, ["groups", "drains"]),
      target,
    );
    return changes.length > 0 ? changes : ["it changed and was reverted; run the command again"];
  }

  #createOutcome(
    outcome: DrainResult["outcome"],
    messages: readonly string[],
    more: Partial<Pick<DrainResult, "drain">> &
      Pick<ActionOutcome, "messageKeys" | "repeat"> & { holders?: readonly Claim[] | undefined } = {},
  ): ActionOutcome<DrainResult> {
    const { snapshot, target, note } = this.#plan;
    const { drain, holders = this.#extent.holders, messageKeys, repeat } = more;
    const result: DrainResult = {
      kind: "drain",
      outcome,
      revision: snapshot.revision,
      target,
      extent: this.#extent,
      drain,
      before: this.#standing,
      holders,
      endsHolders: this.#context.call.flags.reset === true,
    };
    return createOutcome(this.#context.call, result, {
      messages,
      messageKeys,
      repeat,
      notes: note === undefined ? [] : [note],
    });
  }
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
  context: ActionContext<DrainFlags>,
  now: Snapshot,
): Promise<Snapshot | undefined> {
  const expected = context.call.flags["expect-revision"];
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
 * Builds the guards of a drain beside those of existing drains of the same target: for a group, no group has changed.
 */
function buildDrainGuards(keys: Keys, { revision }: Snapshot, { scope }: DrainTarget): Compare[] {
  return scope === "group" ? [{ ...keys.groups(), target: "mod", is: "less", value: revision + 1n }] : [];
}

/**
 * Finds the runs that `--reset` may end: the holders that a person, or a script with `--expect-revision`, was shown.
 * @param before  the snapshot at the expected revision
 * @returns undefined if no holders were shown: then every remaining holder may be ended
 */
function findShownHolders(
  call: Call<DrainFlags>,
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

export const undrainTarget = createActionCommand(async (context) => {
  const target = parseDrainTarget(context.call.args);
  const snapshot = await readSnapshot(context, SCOPE_COLLECTIONS);
  return await new UndrainCommand(context, snapshot, target).run();
});

/** Previews what an undrain releases, asks for confirmation, and lifts the drain. */
class UndrainCommand {
  readonly #context: ActionContext;
  readonly #snapshot: Snapshot;
  readonly #target: DrainTarget;
  readonly #drains: readonly Drain[];
  readonly #others: readonly Drain[];
  readonly #extent: DrainExtent;

  constructor(context: ActionContext, snapshot: Snapshot, target: DrainTarget) {
    this.#context = context;
    this.#snapshot = snapshot;
    this.#target = target;
    this.#drains = findDrainsOfTarget(snapshot, target);
    this.#others = findOtherDrains(snapshot, target, context.clock.getWallTime());
    this.#extent = computeDrainExtent(snapshot, target, context.clock.getWallTime());
  }

  async run(): Promise<ActionOutcome<UndrainResult>> {
    const moved = await this.#findChangedDrains();
    if (moved.length > 0) return this.#createOutcome("changed", moved);
    if (this.#drains.length === 0)
      return this.#createOutcome("nothing", [this.#describeNotDrained(), ...this.#describeOtherDrains()]);
    const preview = [
      ...this.#drains.map((drain) => `lifts ${formatDrainWithEnd(drain)}`),
      ...this.#describeResumed(),
    ];
    if (this.#context.call.flags["dry-run"]) return this.#createOutcome("dry-run", preview);
    const question = `Undrain ${clean(describeDrainTarget(this.#target))}?`;
    if (!(await confirmAction(this.#context, preview, question)))
      return this.#createOutcome("declined", ["nothing was done"]);
    const receipt = await liftDrains(this.#context, {
      target: this.#target,
      drains: this.#drains,
      seen: this.#snapshot.revision,
      reason: this.#context.call.flags.reason,
    });
    if (receipt?.kind === "changed") return this.#createOutcome("changed", await this.#readChanges());
    const lifted = this.#drains.map((drain) => `lifted: ${formatDrainWithEnd(drain)}`);
    return this.#createOutcome("lifted", [...lifted, ...this.#describeResumed()]);
  }

  /** Finds drains that changed since the expected revision. Runs that came or left do not count. */
  async #findChangedDrains(): Promise<string[]> {
    const expected = this.#context.call.flags["expect-revision"];
    if (expected === undefined) return [];
    const newer = this.#drains.filter(({ modRevision }) => modRevision > expected);
    if (expected > this.#snapshot.revision)
      await readSnapshotAt(this.#context, SCOPE_COLLECTIONS, expected, this.#snapshot); // throws
    return newer.map((drain) => `new or changed: ${formatDrainWithEnd(drain)}`);
  }

  async #readChanges(): Promise<string[]> {
    const now = await readSnapshot(this.#context, ["drains"]);
    const changes = describeDrainChanges(this.#drains, findDrainsOfTarget(now, this.#target));
    return changes.length > 0 ? changes : ["it changed and was reverted; run the command again"];
  }

  #describeResumed(): string[] {
    const waiting = this.#extent.waiters.map(({ claim }) => claim);
    const stopped = this.#describeOtherDrains();
    if (stopped.length > 0) return stopped;
    return [
      waiting.length === 0 ? "its queues are empty" : `its queues continue: ${formatClaimOwners(waiting)}`,
    ];
  }

  #describeOtherDrains(): string[] {
    return this.#others.map((drain) => `but ${formatDrainWithEnd(drain)}`);
  }

  #describeNotDrained(): string {
    const { scope, name } = this.#target;
    const drained = [...this.#snapshot.drains.values()].filter((drain) => drain.scope === scope);
    const names = drained.map((drain) => drain.name);
    return `${describeDrainTarget(this.#target)} is not drained${suggestNearest(name, names)}`;
  }

  #createOutcome(
    outcome: UndrainResult["outcome"],
    messages: readonly string[],
  ): ActionOutcome<UndrainResult> {
    const result: UndrainResult = {
      kind: "undrain",
      outcome,
      revision: this.#snapshot.revision,
      target: this.#target,
      drains: this.#drains,
      others: this.#others,
      waiters: this.#extent.waiters.map(({ claim }) => claim),
    };
    return createOutcome(this.#context.call, result, { messages });
  }
}
