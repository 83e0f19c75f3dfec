import { quoteShellWord } from "../../../core/base/shell.ts";
import { quoteText } from "../../../core/base/text.ts";
import { readKeysIfAllowed } from "../../../site/observe/ports.ts";
import type { applyInParts } from "../../../site/operate/apply-in-parts.ts";
import { formatImportCounts } from "../../../site/operate/import-schedules.ts";
import {
  applyMutation,
  previewMutation,
  type ScheduleMutation,
} from "../../../site/operate/schedule-mutation.ts";
import type { PlannedChange } from "../../../site/operate/stored-schedules.ts";
import { performAction, refuseIfChanged } from "../../frame/action.ts";
import type { ActionOutcome, ScheduleResult } from "../../frame/outcome.ts";
import { checkPastRevision } from "../../frame/read-snapshot.ts";
import type { ActionContext, CommandContext } from "../../frame/store-command.ts";
import { listDefinitionNotes } from "./definition-input.ts";
import { formatPlannedChange, formatScheduleChange, toScheduleChange } from "./describe-schedule.ts";

/** A mutation of schedules, and the texts around it. */
interface AmendmentDraft {
  amendment: ScheduleMutation;
  /** How it is applied. Default: in one transaction. */
  apply?: typeof applyInParts;
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
const MAX_REPORTED_CHANGES = 20;

/** Previews changes of schedules, asks for confirmation if something is deleted, and applies them. */
export async function amendSchedules(
  context: ActionContext,
  {
    amendment,
    apply = applyMutation,
    nothing,
    buildQuestion,
    needsConfirmation = false,
    ...texts
  }: AmendmentDraft,
): Promise<ActionOutcome<ScheduleResult>> {
  const { flags } = context;
  const plan = await previewMutation(context, amendment);
  const { changes, revision } = plan;
  const lines = changes.map(formatPlannedChange);
  const needsQuestion = needsConfirmation || changes.some(({ isDeleted }) => isDeleted);
  return await performAction<ScheduleResult>(context, {
    planned: {
      kind: "schedules",
      revision,
      target: amendment.target,
      changes: changes.map(toScheduleChange),
    },
    compare: () => refuseIfChanged(listChangedSince(flags["expect-revision"], plan)),
    listNotes: async () => [...(texts.notes ?? []), ...(await listChangeNotes(context, changes))],
    nothing: changes.length === 0 ? [nothing] : undefined,
    describe: () => lines,
    sum: needsConfirmation ? formatImportCounts(changes) : undefined,
    question: needsQuestion ? buildQuestion(changes) : undefined,
    write: async (isAsked) => {
      const seen = isAsked ? revision : flags["expect-revision"];
      const end = await apply(context, amendment, {
        reason: flags.reason,
        seen,
        onPart: (left) => context.printMessage(`a part is applied; left: ${formatImportCounts(left)}`),
      });
      const result = { changes: [], revision: end.revision };
      if (end.kind === "nothing") return { outcome: "nothing", messages: [nothing], result };
      if (end.kind === "changed")
        return { outcome: "changed", messages: end.ids.map(formatMovedLine), result };
      const done = end.changes;
      // What follows names the next runs.
      const isNextTold = texts.buildFollowUp === undefined;
      const told =
        isAsked || done.length > MAX_REPORTED_CHANGES
          ? [`done: ${formatImportCounts(done)}`]
          : done.map((change) => formatScheduleChange(change, isNextTold));
      const messages = [...told, ...(texts.buildFollowUp?.(done) ?? [])];
      return { outcome: "done", messages, result: { ...result, changes: done.map(toScheduleChange) } };
    },
  });
}

type SchedulePlan = Pick<Awaited<ReturnType<typeof previewMutation>>, "changes" | "revision">;

/** Lists schedules that were written after `--expect-revision`. @throws UsageError for a revision in the future */
function listChangedSince(expected: bigint | undefined, { changes, revision }: SchedulePlan): string[] {
  if (expected === undefined) return [];
  checkPastRevision("--expect-revision", expected, revision);
  return changes
    .filter(({ before }) => before.definitionMod > expected)
    .map(({ before }) => formatMovedLine(before.id));
}

function formatMovedLine(id: string): string {
  return `schedule ${id} has changed; see: signalbox show schedule ${id}`;
}

/** Largest number of groups to check: etcd allows 128 operations in a transaction. */
const MAX_CHECKED_GROUPS = 100;

/**
 * Lists notes about likely mistakes in changed schedules.
 * @param added  groups that are created with the changes
 */
export async function listChangeNotes(
  context: CommandContext,
  changes: readonly PlannedChange[],
  added: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const own = changes.flatMap(({ before, definition }) =>
    (definition === undefined ? [] : listDefinitionNotes(definition, before.definition)).map((note) =>
      changes.length === 1 ? note : `schedule ${quoteText(before.id)}: ${note}`,
    ),
  );
  return [...own, ...(await listMissingGroupNotes(context, changes, added))];
}

/** Lists a note for each missing group. No worker runs the schedule until the group exists. */
async function listMissingGroupNotes(
  context: CommandContext,
  changes: readonly PlannedChange[],
  added: ReadonlySet<string>,
): Promise<string[]> {
  const named = changes.flatMap(({ before, definition }) =>
    definition?.group === undefined || definition.group === before.definition?.group
      ? []
      : [definition.group],
  );
  const groups = [...new Set(named)].filter((group) => !added.has(group)).slice(0, MAX_CHECKED_GROUPS);
  if (groups.length === 0) return [];
  const keys = groups.map((group) => context.keys.group(group));
  const found = await readKeysIfAllowed(context, keys, context.signal);
  return groups
    .filter((_, index) => index in found && found[index] === undefined)
    .map(
      (group) =>
        `there is no group ${quoteText(group)}: nothing runs until you create it (signalbox group set ${quoteShellWord(group)} HOST)`,
    );
}
