import { clean } from "../../core/base/text.ts";
import { formatJsonDocument } from "./json-output.ts";
import { type ActionOutcome, listOutcomeMessages, NOTHING_CHANGED } from "./outcome.ts";
import { toOutcomeJson } from "./outcome-json.ts";
import type { CommandContext } from "./store-command.ts";

/** Prints an outcome, as text or with `--json` as JSON. @returns its exit code */
export function printOutcome(
  outcome: ActionOutcome,
  { flags, io, printMessage }: Pick<CommandContext<{ json?: true }>, "flags" | "io" | "printMessage">,
): number {
  const { exitCode, isFault, advice = [] } = outcome;
  if (flags.json) {
    const document = toOutcomeJson(outcome);
    if (document !== undefined) io.writeOutput(formatJsonDocument(document));
  } else
    for (const line of listOutcomeLines(outcome))
      if (isFault) printMessage(line);
      else io.writeOutput(`${clean(line)}\n`);
  for (const line of advice) printMessage(line);
  return exitCode;
}

/** Lists the lines of an outcome for people. */
export function listOutcomeLines(outcome: ActionOutcome): string[] {
  const { result, undone = NOTHING_CHANGED } = outcome;
  const isChanged = "outcome" in result && result.outcome === "changed";
  return [
    ...(isChanged ? [`${undone}, because something has changed meanwhile:`] : []),
    ...listOutcomeMessages(outcome),
  ];
}
