import { clean } from "../base/text.ts";
import { formatJsonDocument } from "./json-output.ts";
import { createMessagePrinter } from "./message-printer.ts";
import type { ActionOutcome } from "./outcome/action-outcome.ts";
import { toOutcomeJson } from "./outcome/outcome-json.ts";
import { listOutcomeLines } from "./outcome/outcome-lines.ts";
import type { Call, CommandIo } from "./spec.ts";

/** Prints an outcome, as text or with `--json` as JSON. @returns its exit code */
export function printOutcome(outcome: ActionOutcome, call: Call, io: CommandIo): number {
  const { exitCode, isFault, advice = [] } = outcome;
  const printMessage = createMessagePrinter(call, io);
  if (call.flags.json) {
    const document = toOutcomeJson(outcome);
    if (document !== undefined) io.writeOutput(formatJsonDocument(document));
  } else
    for (const line of listOutcomeLines(outcome))
      if (isFault) printMessage(line);
      else io.writeOutput(`${clean(line)}\n`);
  for (const line of advice) printMessage(line);
  return exitCode;
}
