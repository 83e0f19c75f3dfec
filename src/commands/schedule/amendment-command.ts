import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { formatImportCounts } from "../../work/schedules/import-schedules.ts";
import {
  applyMutation,
  type PlannedChange,
  previewMutation,
  type ScheduleMutation,
} from "../../work/schedules/schedule-mutation.ts";
import { parseReasonFlag, parseRevisionFlag } from "../command-line/flags.ts";
import { confirmAction } from "../confirm.ts";
import type { Call, CommandIo } from "../spec.ts";
import type { CommandContext } from "../store-command.ts";
import { formatJsonDocument } from "../table.ts";
import { computeFieldChanges, formatScheduleChange, getChangeKind } from "./change-lines.ts";
import { listMissingGroupNotes } from "./group-notes.ts";

/** A mutation of schedules, and the texts around it. */
export interface AmendmentDraft {
  amendment: ScheduleMutation;
  /** The message if there is nothing to change. */
  nothing: string;
  /** The question before the write. Deletions always ask, other changes if `needsConfirmation` is set. */
  buildQuestion: (changes: readonly PlannedChange[]) => string;
  needsConfirmation?: boolean;
  /** Messages before the write. */
  notes?: readonly string[];
  /** Messages after the write, in addition to the changes. */
  buildFollowUp?: (changes: readonly PlannedChange[]) => readonly string[];
}

export type AmendmentOutcome = "nothing" | "dry-run" | "declined" | "changed" | "done";

const CODES: Record<AmendmentOutcome, number> = {
  ...{ nothing: EXIT.ok, "dry-run": EXIT.ok, done: EXIT.ok, declined: EXIT.undone, changed: EXIT.changed },
};

/** Largest number of changes that are reported one by one afterwards; further ones are only counted. */
const MANY = 20;

/** Previews changes of schedules, asks for confirmation if something is deleted, and applies them. */
export class AmendmentCommand {
  readonly #call: Call;
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #draft: AmendmentDraft;

  constructor(call: Call, io: CommandIo, context: CommandContext, draft: AmendmentDraft) {
    this.#call = call;
    this.#io = io;
    this.#context = context;
    this.#draft = draft;
  }

  /** @returns the outcome and the exit code */
  async run(): Promise<{ outcome: AmendmentOutcome; code: number }> {
    const { amendment, needsConfirmation = false, notes = [] } = this.#draft;
    const { flags } = this.#call;
    const reason = parseReasonFlag(this.#call);
    const { changes, revision } = await previewMutation(this.#context, amendment);
    const moved = this.#findChangedSince(changes, revision);
    if (moved.length > 0) return this.#reportOutcome("changed", moved, changes, revision);
    for (const note of [...notes, ...(await listMissingGroupNotes(this.#context, changes))])
      this.#printLine(`note: ${note}`);
    if (changes.length === 0) return this.#reportOutcome("nothing", [this.#draft.nothing], changes, revision);
    const lines = changes.map(formatScheduleChange);
    if (flags["dry-run"])
      return this.#reportOutcome(
        "dry-run",
        [...lines, `do it with: --expect-revision ${revision} --yes`],
        changes,
        revision,
      );
    const isAsked = !flags.yes && (needsConfirmation || changes.some(({ isDeleted }) => isDeleted));
    if (isAsked) for (const line of lines) this.#printLine(line);
    if (isAsked && (await confirmAction(this.#call, this.#io, this.#draft.buildQuestion(changes))) !== "go")
      return this.#reportOutcome("declined", ["nothing was changed"], changes, revision);
    return await this.#apply(
      reason,
      isAsked ? revision : parseRevisionFlag(this.#call, "expect-revision"),
      isAsked,
    );
  }

  async #apply(reason: string | undefined, seen: bigint | undefined, wasShown: boolean) {
    const done = await applyMutation(this.#context, this.#draft.amendment, { reason, seen });
    if (done.kind === "nothing")
      return this.#reportOutcome("nothing", [this.#draft.nothing], [], done.revision);
    if (done.kind === "changed")
      return this.#reportOutcome("changed", done.ids.map(formatMovedLine), [], done.revision);
    const { changes, revision } = done;
    const told =
      wasShown || changes.length > MANY
        ? [`done: ${this.#formatCount(changes)}`]
        : changes.map(formatScheduleChange);
    return this.#reportOutcome(
      "done",
      [...told, ...(this.#draft.buildFollowUp?.(changes) ?? [])],
      changes,
      revision,
    );
  }

  #formatCount(changes: readonly PlannedChange[]): string {
    return `${formatImportCounts(changes)}`;
  }

  /** Lists schedules that were written after `--expect-revision`. @throws UsageError for a revision in the future */
  #findChangedSince(changes: readonly PlannedChange[], revision: bigint): string[] {
    const expected = parseRevisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    if (expected > revision)
      throw new UsageError(
        `--expect-revision must not be in the future: etcd is at revision ${revision}; got ${expected}`,
      );
    return changes
      .filter(({ before }) => before.definitionMod > expected)
      .map(({ before }) => formatMovedLine(before.id));
  }

  #reportOutcome(
    outcome: AmendmentOutcome,
    lines: readonly string[],
    changes: readonly PlannedChange[],
    revision: bigint,
  ): { outcome: AmendmentOutcome; code: number } {
    const headed =
      outcome === "changed" ? ["nothing was done, because schedules have changed:", ...lines] : lines;
    if (this.#call.flags.json)
      this.#io.writeOutput(
        formatJsonDocument({
          revision,
          action: "schedule",
          ...this.#buildDocument(outcome, changes),
          messages: lines,
        }),
      );
    else if (outcome === "changed") for (const line of headed) this.#printLine(line);
    else for (const line of headed) this.#io.writeOutput(`${clean(line)}\n`);
    const isBad = outcome === "nothing" && this.#call.flags.strict;
    return { outcome, code: isBad ? EXIT.undone : CODES[outcome] };
  }

  #buildDocument(outcome: AmendmentOutcome, changes: readonly PlannedChange[]): object {
    return { target: this.#draft.amendment.target, outcome, changes: changes.map(toScheduleChangeJson) };
  }

  #printLine(line: string): void {
    if (this.#call.verbosity >= 0) this.#io.writeError(`signalbox: ${clean(line)}\n`);
  }
}

/** Converts a change to JSON. Times are ms since the epoch. */
export function toScheduleChangeJson(change: PlannedChange): object {
  const { before, definition, due } = change;
  return {
    ...{ id: before.id, kind: getChangeKind(change) },
    ...(definition && { fields: computeFieldChanges(before.definition, definition) }),
    ...(definition && { definition }),
    ...(due && { next: due.next ?? null, runAt: due.runAt }),
  };
}

function formatMovedLine(id: string): string {
  return `schedule ${id} has changed; see: signalbox schedule show ${id}`;
}
