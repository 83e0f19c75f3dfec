import { UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";
import { commitWithRetries } from "../../observe/ports.ts";
import { formatImportCounts } from "../../operate/import-schedules.ts";
import { applyMutation, previewMutation, type ScheduleMutation } from "../../operate/schedule-mutation.ts";
import type { PlannedChange } from "../../operate/stored-schedules.ts";
import { type ActionOutcome, createOutcome, type ScheduleResult } from "../outcome.ts";
import { confirmAction } from "../print-outcome.ts";
import type { ActionContext, CommandContext } from "../store-command.ts";
import { formatScheduleChange, toScheduleChange } from "./describe-schedule.ts";

/** A mutation of schedules, and the texts around it. */
interface AmendmentDraft {
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

/** Largest number of changes that are reported one by one afterwards; further ones are only counted. */
const MANY = 20;

/** What an outcome is made of, beside its messages. */
interface OutcomeParts {
  changes: readonly PlannedChange[];
  revision: bigint;
  notes?: readonly string[];
  repeat?: string;
}

/** Previews changes of schedules, asks for confirmation if something is deleted, and applies them. */
export class AmendmentCommand {
  readonly #context: ActionContext;
  readonly #draft: AmendmentDraft;

  constructor(context: ActionContext, draft: AmendmentDraft) {
    this.#context = context;
    this.#draft = draft;
  }

  async run(): Promise<ActionOutcome<ScheduleResult>> {
    const { amendment, needsConfirmation = false } = this.#draft;
    const { flags } = this.#context.call;
    const plan = await previewMutation(this.#context, amendment);
    const { changes, revision } = plan;
    const moved = this.#findChangedSince(changes, revision);
    if (moved.length > 0) return this.#createOutcome("changed", moved, { changes, revision });
    const notes = [...(this.#draft.notes ?? []), ...(await listMissingGroupNotes(this.#context, changes))];
    for (const note of notes) this.#context.printMessage(`note: ${note}`);
    const planned = { changes, revision, notes };
    if (changes.length === 0) return this.#createOutcome("nothing", [this.#draft.nothing], planned);
    const lines = changes.map(formatScheduleChange);
    if (flags["dry-run"])
      return this.#createOutcome("dry-run", lines, {
        ...planned,
        repeat: `--expect-revision ${revision} --yes`,
      });
    const isAsked = !flags.yes && (needsConfirmation || changes.some(({ isDeleted }) => isDeleted));
    if (isAsked && !(await confirmAction(this.#context, lines, this.#draft.buildQuestion(changes))))
      return this.#createOutcome("declined", ["nothing was changed"], planned);
    const seen = isAsked ? revision : this.#context.call.flags["expect-revision"];
    const end = await applyMutation(this.#context, amendment, { reason: flags.reason, seen });
    return this.#describeEnd(end, isAsked, notes);
  }

  /** Describes what was done. @param wasShown  whether the user has seen the changes before */
  #describeEnd(
    done: Awaited<ReturnType<typeof applyMutation>>,
    wasShown: boolean,
    notes: readonly string[],
  ): ActionOutcome<ScheduleResult> {
    const { revision } = done;
    const undone = { changes: [], revision, notes };
    if (done.kind === "nothing") return this.#createOutcome("nothing", [this.#draft.nothing], undone);
    if (done.kind === "changed") return this.#createOutcome("changed", done.ids.map(formatMovedLine), undone);
    const { changes } = done;
    const told =
      wasShown || changes.length > MANY
        ? [`done: ${formatImportCounts(changes)}`]
        : changes.map(formatScheduleChange);
    const followUp = this.#draft.buildFollowUp?.(changes) ?? [];
    return this.#createOutcome("done", [...told, ...followUp], { changes, revision, notes });
  }

  /** Lists schedules that were written after `--expect-revision`. @throws UsageError for a revision in the future */
  #findChangedSince(changes: readonly PlannedChange[], revision: bigint): string[] {
    const expected = this.#context.call.flags["expect-revision"];
    if (expected === undefined) return [];
    if (expected > revision)
      throw new UsageError(
        `--expect-revision must not be in the future: etcd is at revision ${revision}; got ${expected}`,
      );
    return changes
      .filter(({ before }) => before.definitionMod > expected)
      .map(({ before }) => formatMovedLine(before.id));
  }

  #createOutcome(
    outcome: ScheduleResult["outcome"],
    messages: readonly string[],
    { changes, revision, notes = [], repeat }: OutcomeParts,
  ): ActionOutcome<ScheduleResult> {
    const { target } = this.#draft.amendment;
    return createOutcome(
      this.#context.call,
      { kind: "schedules", outcome, revision, target, changes: changes.map(toScheduleChange) },
      { messages, notes, repeat },
    );
  }
}

function formatMovedLine(id: string): string {
  return `schedule ${id} has changed; see: signalbox show schedule ${id}`;
}

/** Largest number of groups to check: etcd allows 128 operations in a transaction. */
const MOST = 100;

/**
 * Lists a note for each missing group of a changed schedule. No worker runs the schedule until the group exists.
 * @param added  groups that are created with the changes
 */
export async function listMissingGroupNotes(
  context: CommandContext,
  changes: readonly PlannedChange[],
  added: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const named = changes.flatMap(({ before, definition }) =>
    definition?.group === undefined || definition.group === before.definition?.group
      ? []
      : [definition.group],
  );
  const groups = [...new Set(named)].filter((group) => !added.has(group)).slice(0, MOST);
  if (groups.length === 0) return [];
  const isThere = await readGroupPresence(context, groups);
  return groups
    .filter((_, index) => isThere[index] === false)
    .map(
      (group) =>
        `there is no group ${quoteText(group)}: nothing runs until you create it (signalbox group set ${quoteShellWord(group)} HOST)`,
    );
}

/**
 * Reads which groups exist. Returns an empty list on an error: a role may have access to schedules but not to groups.
 */
async function readGroupPresence(context: CommandContext, groups: readonly string[]): Promise<boolean[]> {
  const success = groups.map((group) => ({ op: "range", key: context.keys.group(group) }) as const);
  const txn = { compare: [], success, failure: [] };
  const answer = await commitWithRetries(context, txn, context.signal).catch(() => undefined);
  return answer?.results.map((result) => result.op === "range" && result.kvs.length > 0) ?? [];
}
