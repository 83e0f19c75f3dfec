import type { OperationResult, PruneResult } from "../outcome.ts";
import type { ActionOutcome } from "./action-outcome.ts";

/** Lists the lines of an outcome for people. */
export function listOutcomeLines(outcome: ActionOutcome): string[] {
  const heading = outcome.heading === undefined ? formatHeading(outcome.result) : [outcome.heading];
  return [...heading, ...outcome.messages, ...formatRepeatLine(outcome)];
}

/** Formats the line that repeats a dry run. @returns no line if the outcome has none */
export function formatRepeatLine({ repeat }: Pick<ActionOutcome, "repeat">): string[] {
  return repeat === undefined ? [] : [`do it with: ${repeat}`];
}

/** Formats the line above the changes that prevented an action. */
function formatHeading(result: OperationResult): string[] {
  if (!("outcome" in result) || result.outcome !== "changed") return [];
  switch (result.kind) {
    case "configuration":
      return ["nothing was done, because the configuration has changed:"];
    case "schedules":
      return ["nothing was done, because schedules have changed:"];
    case "prune":
      return [];
    default:
      return ["nothing was done, because something has changed:"];
  }
}

/** Formats how a prune ended. */
export function formatPruneEnd(outcome: PruneResult["outcome"]): string {
  switch (outcome) {
    case "nothing":
      return "nothing to do";
    case "dry-run":
      return "would be forgotten";
    case "declined":
      return "nothing was done";
    case "done":
      return "forgotten";
    case "changed":
      return "nothing was done, because a host was seen or a run removed a mark meanwhile";
  }
}
