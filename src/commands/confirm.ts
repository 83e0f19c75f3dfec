import { UsageError } from "../base/errors.ts";
import type { Call, CommandIo } from "./spec.ts";

/** The answer for an action whose preview was shown. */
export type Confirmation = "go" | "dry-run" | "no";

/**
 * Decides whether an action continues: never with `--dry-run`, always with `--yes`, otherwise the user at the terminal
 * answers.
 * @param question  ends in `?`
 * @throws UsageError if the user cannot be asked
 */
export async function confirmAction(call: Call, io: CommandIo, question: string): Promise<Confirmation> {
  if (call.flags["dry-run"]) return "dry-run";
  if (call.flags.yes) return "go";
  if (!io.terminal.canAsk())
    throw new UsageError(
      "nothing was done: cannot ask for confirmation without a terminal; add --yes to go on, or --dry-run to see what would change",
    );
  const answer = await io.terminal.ask(`${question} [y/N] `);
  return /^y(es)?$/i.test((answer ?? "").trim()) ? "go" : "no";
}
