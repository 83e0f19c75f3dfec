import { UsageError } from "../base/errors.ts";
import type { Call, Surroundings } from "./spec.ts";

/** What is to become of an action whose preview was shown. */
export type Consent = "go" | "dry-run" | "no";

/**
 * Whether an action may go on: `--dry-run` never, `--yes` always, else the person at the terminal says so.
 * @param question  ends in `?`
 * @throws UsageError where nobody can be asked
 */
export async function consent(call: Call, world: Surroundings, question: string): Promise<Consent> {
  if (call.flags["dry-run"]) return "dry-run";
  if (call.flags.yes) return "go";
  if (!world.terminal.canAsk())
    throw new UsageError(
      "nothing was done: nobody can be asked here; add --yes to go on, or --dry-run to look",
    );
  const answer = await world.terminal.ask(`${question} [y/N] `);
  return /^y(es)?$/i.test((answer ?? "").trim()) ? "go" : "no";
}
