import { UsageError } from "../base/errors.ts";
import type { ActionContext } from "./store-command.ts";

/**
 * Decides whether an action continues: with `--yes` always, otherwise the user at the terminal answers.
 * @param preview   what the user is shown before the question, one sentence each
 * @param question  ends in `?`
 * @throws UsageError if the user cannot be asked
 */
export async function confirmAction(
  { call, io, printMessage }: ActionContext,
  preview: readonly string[],
  question: string,
): Promise<boolean> {
  if (call.flags.yes) return true;
  for (const line of preview) printMessage(line);
  if (!io.terminal.canAsk())
    throw new UsageError(
      "nothing was done: cannot ask for confirmation without a terminal; add --yes to go on, or --dry-run to see what would change",
    );
  const answer = await io.terminal.ask(`${question} [y/N] `);
  return /^y(es)?$/i.test((answer ?? "").trim());
}
