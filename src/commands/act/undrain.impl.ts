import { clean, suggestNearest } from "../../base/text.ts";
import {
  computeDrainExtent,
  type DrainExtent,
  findDrainsOfTarget,
  findOtherDrains,
} from "../../model/preview/drain-extent.ts";
import {
  describeDrainChanges,
  describeDrainTarget,
  formatClaimOwners,
  formatDrainWithEnd,
} from "../../model/preview/drain-extent-text.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { liftDrains } from "../../operate/drain.ts";
import type { Drain, DrainTarget } from "../../protocol/drain.ts";
import { parseReasonFlag, parseRevisionFlag } from "../command-line/flags.ts";
import { confirmAction } from "../confirm.ts";
import { parseDrainTarget } from "../drain-target.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import type { ActionOutcome } from "../outcome/action-outcome.ts";
import { createOutcome } from "../outcome/create-outcome.ts";
import type { UndrainResult } from "../outcome.ts";
import { readSnapshot, readSnapshotAt, SCOPE_COLLECTIONS } from "../read-snapshot.ts";
import type { ActionContext } from "../store-command.ts";

export const { execute, perform } = createActionCommand(async (context) => {
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
      reason: parseReasonFlag(this.#context.call),
    });
    if (receipt?.kind === "changed") return this.#createOutcome("changed", await this.#readChanges());
    const lifted = this.#drains.map((drain) => `lifted: ${formatDrainWithEnd(drain)}`);
    return this.#createOutcome("lifted", [...lifted, ...this.#describeResumed()]);
  }

  /** Finds drains that changed since the expected revision. Runs that came or left do not count. */
  async #findChangedDrains(): Promise<string[]> {
    const expected = parseRevisionFlag(this.#context.call, "expect-revision");
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
