import { EXIT } from "../../base/errors.ts";
import { clean, nearest, quoted } from "../../base/text.ts";
import type { Picture, Room } from "../../model/picture.ts";
import { drainsOf, type Extent, extentOf, otherDrains } from "../../model/scope.ts";
import { drainChanges, drainWithEnd, targetText, whoAll } from "../../model/scope-text.ts";
import { type Drain, type DrainTarget, drainTarget } from "../../protocol/drain.ts";
import { liftDrains } from "../../work/operate/drain.ts";
import { consent } from "../confirm.ts";
import { reasonFlag, revisionFlag } from "../flags.ts";
import { pictureOf, pictureThen } from "../look.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";
import { drainJson } from "./drain-json.ts";
import { targetOf } from "./drain-target.ts";
import { claimJson } from "./evict-json.ts";

const ROOMS: readonly Room[] = ["locks", "resources", "groups", "drains"];

export const execute = withStore(async (call, world, desk) => {
  const target = targetOf(call.args);
  const picture = await pictureOf(desk, ROOMS);
  return await new Undraining(call, world, desk, picture, target).run();
});

type Outcome = "lifted" | "nothing" | "dry-run" | "declined" | "changed";

const CODES: Record<Outcome, number> = {
  ...{ lifted: EXIT.ok, nothing: EXIT.ok, "dry-run": EXIT.ok },
  ...{ declined: EXIT.undone, changed: EXIT.changed },
};

/** Shows what a drain holds back, asks, and lifts it. */
class Undraining {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #picture: Picture;
  readonly #target: DrainTarget;
  readonly #drains: readonly Drain[];
  readonly #others: readonly Drain[];
  readonly #extent: Extent;

  constructor(call: Call, world: Surroundings, desk: Desk, picture: Picture, target: DrainTarget) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#picture = picture;
    this.#target = target;
    this.#drains = drainsOf(picture, target);
    this.#others = otherDrains(picture, target, desk.clock.wall());
    this.#extent = extentOf(picture, target, desk.clock.wall());
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    const { flags } = this.#call;
    const moved = await this.#movedSince();
    if (moved.length > 0) return this.#end("changed", moved);
    if (this.#drains.length === 0) return this.#end("nothing", [this.#nothing(), ...this.#stillStopped()]);
    const preview = [...this.#drains.map((drain) => `lifts ${drainWithEnd(drain)}`), ...this.#whoGoesOn()];
    if (flags["dry-run"]) return this.#end("dry-run", preview);
    if (!flags.yes) for (const line of preview) this.#say(line);
    const question = `Undrain ${clean(targetText(this.#target))}?`;
    const answer = await consent(this.#call, this.#world, question);
    if (answer !== "go") return this.#end("declined", ["nothing was done"]);
    const receipt = await liftDrains(this.#desk, {
      ...{ target: this.#target, drains: this.#drains, seen: this.#picture.revision },
      reason: reasonFlag(this.#call),
    });
    if (receipt?.kind === "changed") return this.#end("changed", await this.#movedNow());
    const lifted = this.#drains.map((drain) => `lifted: ${drainWithEnd(drain)}`);
    return this.#end("lifted", [...lifted, ...this.#whoGoesOn()]);
  }

  /** Only drains count: that runs came and went under one does not make it another. */
  async #movedSince(): Promise<string[]> {
    const expected = revisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    const newer = this.#drains.filter(({ modRevision }) => modRevision > expected);
    if (expected > this.#picture.revision) await pictureThen(this.#desk, ROOMS, expected, this.#picture); // throws
    return newer.map((drain) => `new or changed: ${drainWithEnd(drain)}`);
  }

  async #movedNow(): Promise<string[]> {
    const now = await pictureOf(this.#desk, ["drains"]);
    const changes = drainChanges(this.#drains, drainsOf(now, this.#target));
    return changes.length > 0 ? changes : ["it changed, and changed back"];
  }

  #whoGoesOn(): string[] {
    const waiting = this.#extent.waiters.map(({ claim }) => claim);
    const stopped = this.#stillStopped();
    if (stopped.length > 0) return stopped;
    return [waiting.length === 0 ? "nobody waits in its queues" : `its queues go on: ${whoAll(waiting)}`];
  }

  #stillStopped(): string[] {
    return this.#others.map((drain) => `but ${drainWithEnd(drain)}`);
  }

  #nothing(): string {
    const { scope, name } = this.#target;
    const drained = [...this.#picture.drains.values()].filter((drain) => drain.scope === scope);
    const meant = nearest(
      name,
      drained.map((drain) => drain.name),
    );
    return `${targetText(this.#target)} is not drained${meant === undefined ? "" : `; did you mean ${quoted(meant)}?`}`;
  }

  #end(outcome: Outcome, lines: readonly string[]): number {
    const { flags } = this.#call;
    const headed = outcome === "changed" ? ["nothing was done, for something has moved:", ...lines] : lines;
    if (flags.json) this.#world.out(json(this.#document(outcome, lines)));
    else if (outcome === "changed") for (const line of headed) this.#say(line);
    else for (const line of headed) this.#world.out(`${clean(line)}\n`);
    return outcome === "nothing" && flags.strict ? EXIT.undone : CODES[outcome];
  }

  #document(outcome: Outcome, messages: readonly string[]): object {
    return {
      ...{ revision: this.#picture.revision, action: "undrain", target: drainTarget(this.#target) },
      ...{ outcome, messages },
      drains: this.#drains.map(drainJson),
      others: this.#others.map(drainJson),
      waiters: this.#extent.waiters.map(({ claim }) => claimJson(claim)),
    };
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}
