import { quoteShellWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";
import { commitWithRetries } from "../../work/observe/ports.ts";
import type { PlannedChange } from "../../work/schedules/planned-change.ts";
import type { CommandContext } from "../store-command.ts";

/** Largest number of groups to check: etcd allows 128 operations in a transaction. */
const MOST = 100;

/** Lists a note for each missing group of a changed schedule. No worker runs the schedule until the group exists. */
export async function listMissingGroupNotes(
  context: CommandContext,
  changes: readonly PlannedChange[],
): Promise<string[]> {
  const named = changes.flatMap(({ before, definition }) =>
    definition?.group === undefined || definition.group === before.definition?.group
      ? []
      : [definition.group],
  );
  const groups = [...new Set(named)].slice(0, MOST);
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
