import { NO_LONGER_NEEDED, type WallTime } from "../../core/base/clock.ts";
import { EXIT, UsageError } from "../../core/base/errors.ts";
import { isUnavailable } from "../../core/etcd/store.ts";
import { type ActionResult, updateAuditOutcome } from "../../site/operate/operator-action.ts";
import type { ActionImplementation, CommandExecutor } from "./command.ts";
import type { ActionFlags } from "./command-line/flags.ts";
import { type ActionOutcome, createOutcome, type DecidedResult, NOTHING_CHANGED } from "./outcome.ts";
import { printOutcome } from "./print-outcome.ts";
import {
  type ActionContext,
  type CommandContext,
  createStoreCommand,
  InterruptedError,
  withCommandContext,
} from "./store-command.ts";

/** What differs between actions, which read before what they are about. `performAction` does the rest. */
export interface Action<R extends DecidedResult> {
  /** What it would do, as values. */
  planned: Omit<R, "outcome">;
  /**
   * Compares what there is with what the operator was shown.
   * @returns the refusal if it differs
   */
  compare?(): ActionEnd<R> | undefined | Promise<ActionEnd<R> | undefined>;
  /** Lists warnings, one sentence each. */
  listNotes?(): readonly string[] | Promise<readonly string[]>;
  /** The messages if there is nothing to do; undefined if there is something. */
  nothing?: readonly string[] | undefined;
  /**
   * Describes what it would do, one sentence each.
   * @param wall  wall clock, ms since the epoch; undefined leaves out what changes as time passes
   */
  describe(wall: WallTime | undefined): readonly string[];
  /** The sum of a dry run. The question has it, too. */
  sum?: string | undefined;
  /** Ends in `?`; undefined if the action needs no confirmation. */
  question: string | undefined;
  /** The flags that do what a dry run shows. Default: it is done if nothing of it has changed. */
  repeat?: string | undefined;
  /** Writes it, with its audit record, if nothing has changed. @param isAsked  whether the operator was asked */
  write(isAsked: boolean): Promise<ActionEnd<R>>;
  /** Waits until it has taken effect. @param record  stores the outcome of the wait in the audit record */
  wait?:
    | ((record: (outcome: string) => Promise<void>, written: ActionEnd<R>) => Promise<ActionEnd<R>>)
    | undefined;
  /** What the message says that stays when the operator ends the wait. */
  stays?: string;
}

/** How an action ended. */
export interface ActionEnd<R extends DecidedResult> {
  outcome: R["outcome"];
  /** For people, one sentence each. If something has changed: the changes. */
  messages: readonly string[];
  /** Where the result differs from what was planned. */
  result?: Partial<R>;
  /** What was not done because something has changed, if a part was done. */
  undone?: string;
  /** The result of the write. */
  receipt?: ActionResult | undefined;
}

/** Returns the refusal of an action. @param changes  of what it is about; undefined is returned if there are none */
export function refuseIfChanged(
  changes: readonly string[],
): { outcome: "changed"; messages: readonly string[] } | undefined {
  return changes.length === 0 ? undefined : { outcome: "changed", messages: changes };
}

/**
 * Performs an action: compares what was shown, tells what it would do, asks, writes and waits.
 * @throws UsageError if the user cannot be asked; InterruptedError; as the functions of the action
 */
export async function performAction<R extends DecidedResult>(
  context: ActionContext,
  action: Action<R>,
): Promise<ActionOutcome<R>> {
  const { clock, flags } = context;
  const { planned, nothing, question, sum, wait } = action;
  const { repeat = `--expect-revision ${planned.revision} --yes` } = action;
  let notes: readonly string[] = [];
  const end = (
    { outcome, messages, result, undone }: Omit<ActionEnd<R>, "outcome"> & Pick<DecidedResult, "outcome">,
    texts: Pick<ActionOutcome, "messageKeys" | "repeat"> = {},
  ) => {
    const ended = { ...planned, ...result, outcome } as unknown as R;
    const told = outcome === "changed" && messages.length === 0 ? [REVERTED_MESSAGE] : messages;
    return createOutcome(context, ended, { messages: told, notes, undone, ...texts });
  };
  const refusal = await action.compare?.();
  if (refusal !== undefined) return end(refusal);
  notes = (await action.listNotes?.()) ?? [];
  printNotes(context, notes);
  if (nothing !== undefined) return end({ outcome: "nothing", messages: nothing });
  const lines = action.describe(clock.getWallTime());
  if (flags["dry-run"]) {
    const sums = sum === undefined ? [] : [sum];
    const messageKeys = [...action.describe(undefined), ...sums];
    return end({ outcome: "dry-run", messages: [...lines, ...sums] }, { messageKeys, repeat });
  }
  const isAsked = question !== undefined && !flags.yes;
  if (isAsked && !(await confirm(context, lines, question)))
    return end({ outcome: "declined", messages: [NOTHING_CHANGED] });
  const written = await action.write(isAsked);
  if (written.outcome === "changed" || wait === undefined) return end(written);
  for (const line of written.messages) context.printMessage(line);
  try {
    const { receipt } = written;
    return end(await wait((outcome) => recordOutcome(context, receipt, outcome), written));
  } catch (error) {
    if (error instanceof InterruptedError) context.printMessage(`no longer waiting; ${action.stays}`);
    throw error;
  }
}

/** The message of a refusal if what was shown is there again. */
const REVERTED_MESSAGE = "it changed and was reverted; run the command again";

/** Largest number of notes that are printed; further ones are only counted. */
const MAX_PRINTED_NOTES = 20;

function printNotes({ printMessage }: ActionContext, notes: readonly string[]): void {
  for (const note of notes.slice(0, MAX_PRINTED_NOTES)) printMessage(`note: ${note}`);
  if (notes.length > MAX_PRINTED_NOTES)
    printMessage(`note: and ${notes.length - MAX_PRINTED_NOTES} more notes; --json prints all`);
}

/** Shows the user a preview, and asks. @throws UsageError if the user cannot be asked */
async function confirm(
  { io: { terminal }, printMessage }: ActionContext,
  preview: readonly string[],
  question: string,
): Promise<boolean> {
  for (const line of preview) printMessage(line);
  if (!terminal.canAsk())
    throw new UsageError(
      `${NOTHING_CHANGED}: cannot ask for confirmation without a terminal; add --yes to go on, or --dry-run to see what would change`,
    );
  const answer = await terminal.ask(`${question} [y/N] `);
  return /^y(es)?$/i.test((answer ?? "").trim());
}

/** Longest wait for the write of the audit record, in ms. */
const RECORD_TIMEOUT_MS = 2_000;

/** Adds the outcome to the audit record. If etcd is unavailable, the record keeps what it has, which is true. */
async function recordOutcome(
  context: ActionContext,
  receipt: ActionResult | undefined,
  outcome: string,
): Promise<void> {
  if (receipt?.kind !== "done") return;
  const told = updateAuditOutcome(context, receipt.record, outcome).catch((error) => {
    if (!isUnavailable(error)) throw error;
  });
  const stop = new AbortController();
  const timer = context.clock.sleep(RECORD_TIMEOUT_MS, stop.signal).catch(() => {});
  await Promise.race([told, timer]).finally(() => stop.abort(NO_LONGER_NEEDED));
}

/** Creates a command that only shows what an action would change. @param work  that of the action. It exits with 1 if something would change */
export function createDiffCommand<F extends object>(
  work: (context: CommandContext<F & Pick<ActionFlags, "dry-run">>) => Promise<ActionOutcome>,
): CommandExecutor<F> {
  return createStoreCommand(async (context) => {
    const { repeat: _, ...outcome } = await work({
      ...context,
      flags: { ...context.flags, "dry-run": true },
    });
    const exitCode = printOutcome(outcome, context);
    const { result } = outcome;
    return "outcome" in result && result.outcome === "dry-run" ? EXIT.undone : exitCode;
  });
}

/** Creates a command that acts, from its work. */
export function createActionCommand<F extends object = ActionFlags>(
  work: (context: CommandContext<F>) => Promise<ActionOutcome>,
): ActionImplementation<F> {
  return {
    perform: (call, io) => withCommandContext(call, io, work),
    execute: createStoreCommand(async (context) => printOutcome(await work(context), context)),
  };
}
