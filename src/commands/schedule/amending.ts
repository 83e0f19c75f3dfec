import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type Amendment, amend, type Change, foreseen } from "../../work/schedule/amend.ts";
import { importCount } from "../../work/schedule/importing.ts";
import { consent } from "../confirm.ts";
import { reasonFlag, revisionFlag } from "../flags.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import type { Desk } from "../with-store.ts";
import { changeLine, fieldChanges, kindOf } from "./change-lines.ts";
import { groupNotes } from "./group-notes.ts";

/** What a command makes of an amendment. */
export interface Draft {
  amendment: Amendment;
  /** Said where there is nothing to change. */
  nothing: string;
  /** Asks before it is done; changes that delete are asked for in any case. */
  question: (changes: readonly Change[]) => string;
  asks?: boolean;
  /** Said before. */
  notes?: readonly string[];
  /** Said after it was done, beside the changes. */
  after?: (changes: readonly Change[]) => readonly string[];
}

export type AmendOutcome = "nothing" | "dry-run" | "declined" | "changed" | "done";

const CODES: Record<AmendOutcome, number> = {
  ...{ nothing: EXIT.ok, "dry-run": EXIT.ok, done: EXIT.ok, declined: EXIT.undone, changed: EXIT.changed },
};

/** Changes that are told one by one when they are done; of more, only how many they were. */
const MANY = 20;

/** Shows what is to become of schedules, asks where something is deleted, and does it. */
export class Amending {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #draft: Draft;

  constructor(call: Call, world: Surroundings, desk: Desk, draft: Draft) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#draft = draft;
  }

  /** @returns what became of it, and the exit code */
  async run(): Promise<{ outcome: AmendOutcome; code: number }> {
    const { amendment, asks = false, notes = [] } = this.#draft;
    const { flags } = this.#call;
    const reason = reasonFlag(this.#call);
    const { changes, revision } = await foreseen(this.#desk, amendment);
    const moved = this.#movedSince(changes, revision);
    if (moved.length > 0) return this.#end("changed", moved, changes, revision);
    for (const note of [...notes, ...(await groupNotes(this.#desk, changes))]) this.#say(`note: ${note}`);
    if (changes.length === 0) return this.#end("nothing", [this.#draft.nothing], changes, revision);
    const lines = changes.map(changeLine);
    if (flags["dry-run"])
      return this.#end(
        "dry-run",
        [...lines, `do it with: --expect-revision ${revision} --yes`],
        changes,
        revision,
      );
    const isAsked = !flags.yes && (asks || changes.some(({ isDeleted }) => isDeleted));
    if (isAsked) for (const line of lines) this.#say(line);
    if (isAsked && (await consent(this.#call, this.#world, this.#draft.question(changes))) !== "go")
      return this.#end("declined", ["nothing was changed"], changes, revision);
    return await this.#apply(
      reason,
      isAsked ? revision : revisionFlag(this.#call, "expect-revision"),
      isAsked,
    );
  }

  async #apply(reason: string | undefined, seen: bigint | undefined, wasShown: boolean) {
    const done = await amend(this.#desk, this.#draft.amendment, { reason, seen });
    if (done.kind === "nothing") return this.#end("nothing", [this.#draft.nothing], [], done.revision);
    if (done.kind === "changed") return this.#end("changed", done.ids.map(movedLine), [], done.revision);
    const { changes, revision } = done;
    const told =
      wasShown || changes.length > MANY ? [`done: ${this.#count(changes)}`] : changes.map(changeLine);
    return this.#end("done", [...told, ...(this.#draft.after?.(changes) ?? [])], changes, revision);
  }

  #count(changes: readonly Change[]): string {
    return `${importCount(changes)}`;
  }

  /** @throws UsageError for a revision that is still to come */
  #movedSince(changes: readonly Change[], revision: bigint): string[] {
    const expected = revisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    if (expected > revision)
      throw new UsageError(`--expect-revision: ${expected} is still to come, etcd is at ${revision}`);
    return changes
      .filter(({ before }) => before.definitionMod > expected)
      .map(({ before }) => movedLine(before.id));
  }

  #end(
    outcome: AmendOutcome,
    lines: readonly string[],
    changes: readonly Change[],
    revision: bigint,
  ): { outcome: AmendOutcome; code: number } {
    const headed =
      outcome === "changed" ? ["nothing was done, for schedules were written since:", ...lines] : lines;
    if (this.#call.flags.json)
      this.#world.out(
        json({ revision, action: "schedule", ...this.#document(outcome, changes), messages: lines }),
      );
    else if (outcome === "changed") for (const line of headed) this.#say(line);
    else for (const line of headed) this.#world.out(`${clean(line)}\n`);
    const isBad = outcome === "nothing" && this.#call.flags.strict;
    return { outcome, code: isBad ? EXIT.undone : CODES[outcome] };
  }

  #document(outcome: AmendOutcome, changes: readonly Change[]): object {
    return { target: this.#draft.amendment.target, outcome, changes: changes.map(changeJson) };
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}

/** A change as JSON has it. Instants in ms since the epoch. */
export function changeJson(change: Change): object {
  const { before, definition, due } = change;
  return {
    ...{ id: before.id, kind: kindOf(change) },
    ...(definition && { fields: fieldChanges(before.definition, definition) }),
    ...(definition && { definition }),
    ...(due && { next: due.next ?? null, runAt: due.runAt }),
  };
}

function movedLine(id: string): string {
  return `schedule ${id} was written; see: signalbox schedule show ${id}`;
}
