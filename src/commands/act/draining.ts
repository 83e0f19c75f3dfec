import { formatDuration } from "../../base/duration.ts";
import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { Claim } from "../../model/claims.ts";
import type { Picture } from "../../model/picture.ts";
import { drainsOf, type Extent, extentOf, otherDrains } from "../../model/scope.ts";
import { drainWithEnd, extentLines, targetText, whoAll } from "../../model/scope-text.ts";
import { type Drain, type DrainTarget, hasEnded } from "../../protocol/drain.ts";
import type { Receipt } from "../../work/operate/act.ts";
import { putDrain } from "../../work/operate/drain.ts";
import { consent } from "../confirm.ts";
import { durationFlag, reasonFlag } from "../flags.ts";
import { pictureOf } from "../look.ts";
import { givenFlags, shellWord } from "../shell-word.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import type { Desk } from "../with-store.ts";
import { guardsOf, scopeChanges } from "./drain-changes.ts";
import { Emptier } from "./drain-empty.ts";
import { drainDocument } from "./drain-json.ts";

/** What is to be drained, and the picture in which that was decided. */
export interface DrainPlan {
  picture: Picture;
  target: DrainTarget;
  /** A word of warning. */
  note: string | undefined;
}

export type DrainOutcome =
  | "drained"
  | "replaced"
  | "standing"
  | "dry-run"
  | "declined"
  | "changed"
  | "lifted"
  | "timeout";

const CODES: Record<DrainOutcome, number> = {
  ...{ drained: EXIT.ok, replaced: EXIT.ok, standing: EXIT.ok, "dry-run": EXIT.ok },
  ...{ declined: EXIT.undone, changed: EXIT.changed, lifted: EXIT.changed, timeout: EXIT.timeout },
};

/** Shows what a drain does, asks, puts it, and waits until its scope is empty where that is asked for. */
export class Draining {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #plan: DrainPlan;
  readonly #extent: Extent;
  /** Drains of the same thing: all that have a key, and those that stop anybody. */
  readonly #before: readonly Drain[];
  readonly #standing: readonly Drain[];

  constructor(call: Call, world: Surroundings, desk: Desk, plan: DrainPlan) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#plan = plan;
    const wall = desk.clock.wall();
    this.#extent = extentOf(plan.picture, plan.target, wall);
    this.#before = drainsOf(plan.picture, plan.target);
    this.#standing = this.#before.filter((drain) => !hasEnded(drain, wall));
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    const { note, target, picture } = this.#plan;
    const { flags } = this.#call;
    if (note !== undefined) this.#say(note);
    const moved = await scopeChanges(this.#call, this.#desk, picture, target);
    if (moved.length > 0) return this.#end("changed", moved);
    const standing = this.#satisfied();
    if (flags["dry-run"]) return this.#end("dry-run", this.#forecast(standing), standing);
    if (standing === undefined || flags.reset) {
      if (!flags.yes) for (const line of this.#preview(standing)) this.#say(line);
      const answer = await consent(this.#call, this.#world, this.#question());
      if (answer !== "go") return this.#end("declined", ["nothing was done"]);
    }
    if (standing !== undefined) return await this.#settle("standing", standing);
    const { receipt, drain } = await this.#put();
    if (receipt.kind === "changed") return this.#end("changed", await this.#movedNow());
    return await this.#settle(this.#standing.length > 0 ? "replaced" : "drained", drain, receipt);
  }

  /** A drain that stands and needs no change. */
  #satisfied(): Drain | undefined {
    const reason = reasonFlag(this.#call);
    if (this.#call.flags.keep) return this.#standing[0];
    if (durationFlag(this.#call, "for") !== undefined) return undefined;
    return this.#standing.find(
      ({ until, why }) => until === undefined && (reason === undefined || reason === why),
    );
  }

  #put(): ReturnType<typeof putDrain> {
    const { target, picture } = this.#plan;
    const length = durationFlag(this.#call, "for");
    const until = length === undefined ? undefined : this.#desk.clock.wall() + length;
    return putDrain(this.#desk, {
      ...{ target, until, instead: this.#before, seen: picture.revision },
      reason: reasonFlag(this.#call) ?? this.#standing[0]?.why,
      compare: guardsOf(this.#call, this.#desk, picture, target),
      outcome: length === undefined ? "drained" : `drained for ${formatDuration(length)}`,
    });
  }

  async #settle(outcome: DrainOutcome, drain: Drain, receipt?: Receipt): Promise<number> {
    const { holders } = this.#extent;
    const lines = this.#told(outcome, drain);
    if (!this.#call.flags.wait) {
      const others =
        holders.length === 0 ? "nobody holds anything there" : `still held there by ${whoAll(holders)}`;
      return this.#end(outcome, [...lines, others], drain);
    }
    for (const line of lines) this.#say(line);
    const emptier = new Emptier(this.#desk, (line) => this.#say(line), {
      ...{ target: this.#plan.target, holders, receipt, reason: reasonFlag(this.#call) },
      ...{ timeout: durationFlag(this.#call, "timeout"), resets: this.#call.flags.reset === true },
    });
    const emptied = await emptier.run();
    const final = emptied.kind === "empty" ? outcome : emptied.kind;
    return this.#end(final, emptied.lines, drain, emptied.holders);
  }

  #told(outcome: DrainOutcome, drain: Drain): string[] {
    if (outcome === "standing") return [`nothing to change: ${drainWithEnd(drain)}`];
    return [drainWithEnd(drain), ...this.#standing.map((old) => `instead of: ${drainWithEnd(old)}`)];
  }

  #preview(standing: Drain | undefined): string[] {
    const { picture, target } = this.#plan;
    const wall = this.#desk.clock.wall();
    const replaced = standing === undefined ? this.#standing : [];
    return [
      ...(standing === undefined ? [] : [`nothing to change: ${drainWithEnd(standing)}`]),
      ...replaced.map((drain) => `instead of: ${drainWithEnd(drain)}`),
      ...extentLines(this.#extent, target, wall),
      ...otherDrains(picture, target, wall).map((drain) => `also  ${drainWithEnd(drain)}`),
    ];
  }

  #forecast(standing: Drain | undefined): string[] {
    const { picture, target } = this.#plan;
    const scope = [target.scope, ...(target.scope === "all" ? [] : [shellWord(target.name)])];
    const flags = givenFlags(this.#call, ["for", "keep", "wait", "timeout", "reset", "reason"]);
    const words = ["signalbox drain", ...scope, ...flags, "--expect-revision", picture.revision, "--yes"];
    return [...this.#preview(standing), `do it with: ${words.join(" ")}`];
  }

  #question(): string {
    const { reset } = this.#call.flags;
    const what = `Drain ${clean(targetText(this.#plan.target))}`;
    return reset ? `${what}, and end what still runs there after the timeout?` : `${what}?`;
  }

  /** What others did between our look and our try. */
  async #movedNow(): Promise<string[]> {
    const { picture, target } = this.#plan;
    const now = await pictureOf(this.#desk, ["locks", "resources", "groups", "drains"]);
    const changes = await scopeChanges(this.#call, this.#desk, now, target, picture);
    return changes.length > 0 ? changes : ["it changed, and changed back"];
  }

  #end(outcome: DrainOutcome, lines: readonly string[], drain?: Drain, holders?: readonly Claim[]): number {
    const { flags } = this.#call;
    const isFault = CODES[outcome] === EXIT.changed || outcome === "timeout";
    const headed = outcome === "changed" ? ["nothing was done, for something has moved:", ...lines] : lines;
    if (flags.json) this.#world.out(json(this.#document(outcome, lines, drain, holders)));
    else if (isFault) for (const line of headed) this.#say(line);
    else for (const line of headed) this.#world.out(`${clean(line)}\n`);
    return outcome === "standing" && flags.strict ? EXIT.undone : CODES[outcome];
  }

  #document(
    outcome: DrainOutcome,
    messages: readonly string[],
    drain: Drain | undefined,
    holders: readonly Claim[] = this.#extent.holders,
  ): object {
    const { picture, target, note } = this.#plan;
    const said = { outcome, messages: note === undefined ? messages : [note, ...messages] };
    const what = { revision: picture.revision, target, extent: this.#extent };
    return drainDocument(what, { drain, before: this.#standing }, holders, said);
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}
