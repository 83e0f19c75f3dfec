import { EXIT } from "../../../base/errors.ts";
import { clean, findNearest, quoteText } from "../../../base/text.ts";
import {
  computeDrainExtent,
  type DrainExtent,
  findDrainsOfTarget,
  findOtherDrains,
} from "../../../model/preview/drain-extent.ts";
import {
  describeDrainChanges,
  describeDrainTarget,
  formatClaimOwners,
  formatDrainWithEnd,
} from "../../../model/preview/drain-extent-text.ts";
import type { Collection, Snapshot } from "../../../model/snapshot/snapshot.ts";
import { type Drain, type DrainTarget, formatAuditTarget } from "../../../protocol/drain.ts";
import { liftDrains } from "../../../work/operate/drain.ts";
import { parseReasonFlag, parseRevisionFlag } from "../../command-line/flags.ts";
import { confirmAction } from "../../confirm.ts";
import { readSnapshot, readSnapshotAt } from "../../read-snapshot.ts";
import type { Call, CommandIo } from "../../spec.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { formatJsonDocument } from "../../table.ts";
import { toClaimJson } from "../evict-json.ts";
import { toDrainDocument } from "./drain-json.ts";
import { parseDrainTarget } from "./drain-target.ts";

const COLLECTIONS: readonly Collection[] = ["locks", "resources", "groups", "drains"];

export const execute = createStoreCommand(async (call, io, context) => {
  const target = parseDrainTarget(call.args);
  const snapshot = await readSnapshot(context, COLLECTIONS);
  return await new UndrainCommand(call, io, context, snapshot, target).run();
});

type UndrainOutcome = "lifted" | "nothing" | "dry-run" | "declined" | "changed";

const CODES: Record<UndrainOutcome, number> = {
  ...{ lifted: EXIT.ok, nothing: EXIT.ok, "dry-run": EXIT.ok },
  ...{ declined: EXIT.undone, changed: EXIT.changed },
};

/** Previews what an undrain releases, asks for confirmation, and lifts the drain. */
class UndrainCommand {
  readonly #call: Call;
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #snapshot: Snapshot;
  readonly #target: DrainTarget;
  readonly #drains: readonly Drain[];
  readonly #others: readonly Drain[];
  readonly #extent: DrainExtent;

  constructor(call: Call, io: CommandIo, context: CommandContext, snapshot: Snapshot, target: DrainTarget) {
    this.#call = call;
    this.#io = io;
    this.#context = context;
    this.#snapshot = snapshot;
    this.#target = target;
    this.#drains = findDrainsOfTarget(snapshot, target);
    this.#others = findOtherDrains(snapshot, target, context.clock.getWallTime());
    this.#extent = computeDrainExtent(snapshot, target, context.clock.getWallTime());
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    const { flags } = this.#call;
    const moved = await this.#findChangedDrains();
    if (moved.length > 0) return this.#reportOutcome("changed", moved);
    if (this.#drains.length === 0)
      return this.#reportOutcome("nothing", [this.#describeNotDrained(), ...this.#describeOtherDrains()]);
    const preview = [
      ...this.#drains.map((drain) => `lifts ${formatDrainWithEnd(drain)}`),
      ...this.#describeResumed(),
    ];
    if (flags["dry-run"]) return this.#reportOutcome("dry-run", preview);
    if (!flags.yes) for (const line of preview) this.#printLine(line);
    const question = `Undrain ${clean(describeDrainTarget(this.#target))}?`;
    const answer = await confirmAction(this.#call, this.#io, question);
    if (answer !== "go") return this.#reportOutcome("declined", ["nothing was done"]);
    const receipt = await liftDrains(this.#context, {
      ...{ target: this.#target, drains: this.#drains, seen: this.#snapshot.revision },
      reason: parseReasonFlag(this.#call),
    });
    if (receipt?.kind === "changed") return this.#reportOutcome("changed", await this.#readChanges());
    const lifted = this.#drains.map((drain) => `lifted: ${formatDrainWithEnd(drain)}`);
    return this.#reportOutcome("lifted", [...lifted, ...this.#describeResumed()]);
  }

  /** Finds drains that changed since the expected revision. Runs that came or left do not count. */
  async #findChangedDrains(): Promise<string[]> {
    const expected = parseRevisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    const newer = this.#drains.filter(({ modRevision }) => modRevision > expected);
    if (expected > this.#snapshot.revision)
      await readSnapshotAt(this.#context, COLLECTIONS, expected, this.#snapshot); // throws
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
    const meant = findNearest(
      name,
      drained.map((drain) => drain.name),
    );
    return `${describeDrainTarget(this.#target)} is not drained${meant === undefined ? "" : `; did you mean ${quoteText(meant)}?`}`;
  }

  #reportOutcome(outcome: UndrainOutcome, lines: readonly string[]): number {
    const { flags } = this.#call;
    const headed =
      outcome === "changed" ? ["nothing was done, because something has changed:", ...lines] : lines;
    if (flags.json) this.#io.writeOutput(formatJsonDocument(this.#buildDocument(outcome, lines)));
    else if (outcome === "changed") for (const line of headed) this.#printLine(line);
    else for (const line of headed) this.#io.writeOutput(`${clean(line)}\n`);
    return outcome === "nothing" && flags.strict ? EXIT.undone : CODES[outcome];
  }

  #buildDocument(outcome: UndrainOutcome, messages: readonly string[]): object {
    return {
      ...{ revision: this.#snapshot.revision, action: "undrain", target: formatAuditTarget(this.#target) },
      ...{ outcome, messages },
      drains: this.#drains.map(toDrainDocument),
      others: this.#others.map(toDrainDocument),
      waiters: this.#extent.waiters.map(({ claim }) => toClaimJson(claim)),
    };
  }

  #printLine(line: string): void {
    if (this.#call.verbosity >= 0) this.#io.writeError(`signalbox: ${clean(line)}\n`);
  }
}
