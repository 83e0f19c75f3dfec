import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type ConfigChange, changeCount, changeLine, withChanges } from "../../fleet/changes.ts";
import { configurationOf } from "../../model/configuring/configuration.ts";
import { type Impact, impactOf } from "../../model/configuring/impact.ts";
import { hitCount, hitLines, movedLines } from "../../model/configuring/text.ts";
import type { Picture } from "../../model/picture.ts";
import { type Configuring, configure } from "../../work/operate/configure.ts";
import { configurers } from "../../work/operate/configurers.ts";
import { signature } from "../../work/operate/ports.ts";
import { consent } from "../confirm.ts";
import { reasonFlag, revisionFlag } from "../flags.ts";
import { pictureOf, pictureThen } from "../look.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import type { Desk } from "../with-store.ts";
import { CONFIG_ROOMS, seenKeys } from "./configured.ts";
import { configuringJson } from "./configuring-json.ts";

/** Changes of the configuration, and the picture in which they were decided. */
export interface Draft {
  action: Configuring["action"];
  /** As the audit has it: `group web`. */
  target: string;
  picture: Picture;
  changes: readonly ConfigChange[];
  /** Said where there is nothing to change. */
  nothing: string;
  /** What else an operator should know, a sentence each. */
  notes?: readonly string[];
  /** Many things at once: it is asked in any case, and refused when anything of the configuration has moved. */
  isBulk?: boolean;
}

export type ConfigOutcome = "nothing" | "dry-run" | "declined" | "changed" | "done";

const CODES: Record<ConfigOutcome, number> = {
  ...{ nothing: EXIT.ok, "dry-run": EXIT.ok, done: EXIT.ok, declined: EXIT.undone, changed: EXIT.changed },
};

/** Changes that are told one by one when they are done, and notes; of more, only how many they were. */
const MANY = 10;
/** How often it is tried again when others acted, but not on the configuration. */
const TRIES = 5;

/** Shows what changes of the configuration do, asks where they hit somebody or delete something, and makes them. */
export class Reconfiguration {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #draft: Draft;
  readonly #impact: Impact;
  readonly #reason: string | undefined;

  constructor(call: Call, world: Surroundings, desk: Desk, draft: Draft) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#draft = draft;
    this.#reason = reasonFlag(call);
    this.#impact = impactOf(draft.picture, draft.changes, desk.clock.wall());
  }

  /** @returns what became of it, and the exit code */
  async run(): Promise<{ outcome: ConfigOutcome; code: number }> {
    const { changes, nothing } = this.#draft;
    const moved = await this.#movedSinceExpected();
    if (moved.length > 0) return this.#end("changed", moved);
    if (changes.length === 0) return this.#end("nothing", [nothing]);
    this.#tellNotes();
    const lines = this.#preview();
    if (this.#call.flags["dry-run"])
      return this.#end("dry-run", [
        ...lines,
        `do it with: --expect-revision ${this.#draft.picture.revision} --yes`,
      ]);
    const isAsked = this.#mustAsk() && !this.#call.flags.yes;
    if (isAsked) for (const line of lines) this.#say(line);
    if (isAsked && (await consent(this.#call, this.#world, this.#question())) !== "go")
      return this.#end("declined", ["nothing was changed"]);
    return await this.#apply(isAsked);
  }

  async #apply(wasShown: boolean): Promise<{ outcome: ConfigOutcome; code: number }> {
    let { picture } = this.#draft;
    for (let left = TRIES; ; left -= 1) {
      const receipt = await configure(this.#desk, this.#deed(picture));
      if (receipt.kind === "done") return this.#end("done", this.#told(wasShown), receipt.revision);
      const now = await pictureOf(this.#desk, CONFIG_ROOMS);
      const moved = movedLines(picture, now, this.#concerns());
      if (moved.length > 0) return this.#end("changed", [...moved, ...(await this.#who(picture.revision))]);
      if (left <= 1) return this.#end("changed", ["others act without a pause; try again"]);
      picture = now; // somebody acted on something else
    }
  }

  #deed(picture: Picture): Configuring {
    const { action, target, changes, isBulk = false } = this.#draft;
    const hits = hitCount(this.#impact.hits);
    return {
      ...{ action, target, changes, seen: picture.revision, keys: seenKeys(picture), guardsAll: isBulk },
      reason: this.#reason,
      outcome: `${this.#summary()}${hits === "" ? "" : `; ${hits}`}`,
    };
  }

  /** What the audit keeps of the changes. */
  #summary(): string {
    const [only] = this.#draft.changes;
    if (only !== undefined && this.#draft.changes.length === 1) return this.#line(only);
    return changeCount(this.#draft.changes);
  }

  async #movedSinceExpected(): Promise<string[]> {
    const expected = revisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    const { picture } = this.#draft;
    const then = await pictureThen(this.#desk, CONFIG_ROOMS, expected, picture);
    const moved = movedLines(then, picture, this.#concerns());
    return moved.length === 0 ? [] : [...moved, ...(await this.#who(expected))];
  }

  /** What must not have moved: all of it, or what is touched. */
  #concerns(): (kind: ConfigChange["kind"], name: string) => boolean {
    const { isBulk, changes, target } = this.#draft;
    const touched = new Set([target, ...changes.map(({ kind, name }) => `${kind} ${name}`)]);
    return (kind, name) => isBulk === true || touched.has(`${kind} ${name}`);
  }

  /** Who has changed the configuration since, as the audit tells. */
  async #who(since: bigint): Promise<string[]> {
    const records = await configurers(this.#desk, since);
    return records.map((one) => `${signature(one)} did this: ${one.action}, ${one.target}: ${one.outcome}`);
  }

  #mustAsk(): boolean {
    const { isBulk, changes } = this.#draft;
    return (
      isBulk === true || this.#impact.hits.length > 0 || changes.some(({ after }) => after === undefined)
    );
  }

  #preview(): string[] {
    const { changes } = this.#draft;
    const lines = changes.map((change) => this.#line(change));
    return [...lines, ...hitLines(this.#impact.hits, this.#desk.clock.wall())];
  }

  #told(wasShown: boolean): string[] {
    const { changes } = this.#draft;
    const hits = hitCount(this.#impact.hits);
    const told =
      wasShown || changes.length > MANY
        ? [`done: ${changeCount(changes)}`]
        : changes.map((change) => this.#line(change));
    return hits === "" ? told : [...told, `this ${hits}`];
  }

  #line(change: ConfigChange): string {
    const { picture, changes } = this.#draft;
    return changeLine(change, withChanges(configurationOf(picture), changes).groups);
  }

  #question(): string {
    const hits = hitCount(this.#impact.hits);
    const what = this.#draft.isBulk ? changeCount(this.#draft.changes) : clean(this.#draft.target);
    return `Change ${what}${hits === "" ? "" : `, which ${hits}`}?`;
  }

  #tellNotes(): void {
    const notes = this.#notes();
    for (const note of notes.slice(0, MANY)) this.#say(`note: ${note}`);
    if (notes.length > MANY) this.#say(`note: and ${notes.length - MANY} notes more, which --json has`);
  }

  #notes(): string[] {
    return [...(this.#draft.notes ?? []), ...this.#impact.notes];
  }

  #end(
    outcome: ConfigOutcome,
    lines: readonly string[],
    revision = this.#draft.picture.revision,
  ): { outcome: ConfigOutcome; code: number } {
    const headed =
      outcome === "changed" ? ["nothing was done, for the configuration has moved:", ...lines] : lines;
    const impact = { ...this.#impact, notes: this.#notes() };
    if (this.#call.flags.json)
      this.#world.out(json(configuringJson(this.#draft, impact, revision, outcome, lines)));
    else if (outcome === "changed") for (const line of headed) this.#say(line);
    else for (const line of headed) this.#world.out(`${clean(line)}\n`);
    return {
      outcome,
      code: outcome === "nothing" && this.#call.flags.strict ? EXIT.undone : CODES[outcome],
    };
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}
