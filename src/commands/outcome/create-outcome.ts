import { EXIT } from "../../base/errors.ts";
import type { AbandonedEdit, FaultyDocument, OperationResult } from "../outcome.ts";
import type { Call } from "../spec.ts";
import type { ActionOutcome } from "./action-outcome.ts";

/** The result of a command that came as far as a decision. */
type DecidedResult = Exclude<OperationResult, FaultyDocument | AbandonedEdit>;

/** The texts of an outcome, for people. */
type OutcomeTexts = Pick<ActionOutcome, "messages" | "messageKeys" | "repeat" | "heading"> &
  Partial<Pick<ActionOutcome, "notes">>;

/** Creates the outcome of an action, with its exit code. */
export function createOutcome<R extends DecidedResult>(
  { flags }: Pick<Call, "flags">,
  result: R,
  { notes = [], ...texts }: OutcomeTexts,
): ActionOutcome<R> {
  const exitCode = getExitCode(result, flags.strict === true);
  const isFault = result.kind !== "prune" && (exitCode === EXIT.changed || exitCode === EXIT.timeout);
  return { exitCode, result, notes, isFault, ...texts };
}

function getExitCode({ kind, outcome }: DecidedResult, isStrict: boolean): number {
  switch (outcome) {
    case "nothing":
    case "standing":
      return isStrict ? EXIT.undone : EXIT.ok;
    case "declined":
      return EXIT.undone;
    case "changed":
      return EXIT.changed;
    case "timeout":
      return EXIT.timeout;
    case "lifted":
      return kind === "drain" ? EXIT.changed : EXIT.ok; // of a drain: while it was waited for
    default:
      return EXIT.ok;
  }
}

/**
 * Creates the outcome of a document that cannot be imported.
 * @param messages  the faults for people, and that nothing was changed
 */
export function createFaultyOutcome(
  result: Omit<FaultyDocument, "kind">,
  messages: readonly string[],
): ActionOutcome<FaultyDocument> {
  return {
    exitCode: EXIT.config,
    result: { kind: "faulty", ...result },
    messages,
    notes: [],
    isFault: true,
  };
}

/** Creates the outcome of a text that the user left with faults. */
export function createAbandonedOutcome(): ActionOutcome<AbandonedEdit> {
  return {
    exitCode: EXIT.config,
    result: { kind: "abandoned" },
    messages: [],
    notes: [],
    isFault: true,
  };
}
