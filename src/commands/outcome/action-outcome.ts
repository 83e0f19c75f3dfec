import type { OperationResult } from "../outcome.ts";

/** What a command that acts has done, or would do with `--dry-run`. `printOutcome` prints it. */
export interface ActionOutcome<R extends OperationResult = OperationResult> {
  exitCode: number;
  result: R;
  /** For people, one sentence each. */
  messages: readonly string[];
  /**
   * One key for each message of a dry run. The key of a message stays the same as time passes, though its ages and counts
   * change. Undefined: the messages themselves.
   */
  messageKeys?: readonly string[] | undefined;
  /** Warnings, one sentence each. The command prints them before it acts or asks. */
  notes: readonly string[];
  /** The line above the messages, if it is not the usual one. */
  heading?: string | undefined;
  /** The command line, or the end of it, that does what a dry run shows. */
  repeat?: string | undefined;
  /** Whether something prevented or limited the action. Then its text goes to standard error. */
  isFault: boolean;
  /** Advice, printed on standard error after everything else. */
  advice?: readonly string[];
}

/** Returns an outcome with further advice. */
export function addAdvice<R extends OperationResult>(
  outcome: ActionOutcome<R>,
  advice: readonly string[],
): ActionOutcome<R> {
  return { ...outcome, advice: [...(outcome.advice ?? []), ...advice] };
}
