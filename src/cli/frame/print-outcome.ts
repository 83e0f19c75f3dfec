import { UsageError } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { type Drain, formatAuditTarget } from "../../core/protocol/drain.ts";
import type { CalendarChange } from "../../site/operate/calendar-changes.ts";
import { type Claim, findClaimTicket } from "../../site/state/claims.ts";
import type { ActionImplementation } from "./command.ts";
import type { ActionFlags } from "./command-line/flags.ts";
import { formatJsonDocument } from "./json-output.ts";
import type {
  ActionOutcome,
  DrainResult,
  EvictionResult,
  OperationResult,
  PruneResult,
  ScheduleChangeRecord,
  UndrainResult,
} from "./outcome.ts";
import {
  type ActionContext,
  type CommandContext,
  createStoreCommand,
  withCommandContext,
} from "./store-command.ts";

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

/**
 * Builds the JSON document of an outcome. docs/json.md describes the fields.
 * @returns undefined if there is none: the user gave up in the editor
 */
function toOutcomeJson(outcome: ActionOutcome): object | undefined {
  const { result, notes } = outcome;
  const messages = [...outcome.messages, ...formatRepeatLine(outcome)];
  switch (result.kind) {
    case "eviction":
      return toEvictionJson(result, messages);
    case "drain":
      return toDrainJson(result, [...notes, ...messages]);
    case "undrain":
      return toUndrainJson(result, messages);
    case "site": {
      const { config, calendars, schedules, affected, kind: _, ...rest } = result;
      return {
        ...rest,
        messages,
        notes,
        changes: [
          ...config.map(({ kind, name, before = null, after = null }) => ({ kind, name, before, after })),
          ...calendars.map(toCalendarChangeJson),
        ],
        schedules: schedules?.map(toScheduleChangeJson),
        hits: affected.map(({ claim, fate, exit, why }) => ({ ...toClaimJson(claim), fate, exit, why })),
      };
    }
    case "schedules": {
      const { revision, target, outcome: end, changes } = result;
      return {
        revision,
        action: "schedule",
        target,
        outcome: end,
        changes: changes.map(toScheduleChangeJson),
        messages,
        notes,
      };
    }
    case "prune": {
      const { revision, outcome: end, audit, hosts, vanished, expired } = result;
      return { revision, outcome: PRUNE_ENDS[end], audit, hosts, vanished, expired };
    }
    case "faulty":
      return { outcome: "faulty", faults: result.faults };
    case "abandoned":
      return undefined;
  }
}

function toEvictionJson(
  { revision, target, outcome, preview, runners }: EvictionResult,
  messages: readonly string[],
): object {
  const { evicted, freed, next } = preview;
  return {
    revision,
    action: "reset",
    target,
    outcome,
    messages,
    evicted: evicted.map(toClaimJson),
    runners,
    freed,
    next: next.map(({ claim, drains }) => ({ ...toClaimJson(claim), drainedBy: drains.map(({ by }) => by) })),
  };
}

function toDrainJson(result: DrainResult, messages: readonly string[]): object {
  const { revision, target, outcome, drain, before, extent, holders } = result;
  return {
    revision,
    action: "drain",
    target: formatAuditTarget(target),
    outcome,
    messages,
    drain: drain && toDrainDocument(drain),
    before: before.map(toDrainDocument),
    hosts: extent.hosts,
    holders: holders.map(toClaimJson),
    waiters: extent.waiters.map(({ claim, fate }) => ({ ...toClaimJson(claim), fate })),
  };
}

function toUndrainJson(result: UndrainResult, messages: readonly string[]): object {
  const { revision, target, outcome, drains, others, waiters } = result;
  return {
    revision,
    action: "undrain",
    target: formatAuditTarget(target),
    outcome,
    messages,
    drains: drains.map(toDrainDocument),
    others: others.map(toDrainDocument),
    waiters: waiters.map(toClaimJson),
  };
}

function toCalendarChangeJson({ name, before, after }: CalendarChange): object {
  const known = before !== undefined && "value" in before ? before.value : null;
  return { kind: "calendar", name, before: known, after: after ?? null };
}

/** Converts a change of a schedule to JSON. Times are ms since the epoch. */
export function toScheduleChangeJson({ id, kind, fields, definition, due }: ScheduleChangeRecord): object {
  return {
    id,
    kind,
    ...(definition && { fields, definition }),
    ...(due && { next: due.next ?? null, runAt: due.runAt }),
  };
}

/** Converts a run and its tickets to JSON. */
function toClaimJson(claim: Claim): object {
  const { run, entries, task, lost } = claim;
  const ticket = findClaimTicket(claim);
  const { host, pid } = ticket ?? task?.value ?? {};
  const { user, command, label } = ticket ?? {};
  return {
    run,
    host,
    pid,
    user,
    command,
    label,
    schedule: (task ?? lost)?.id,
    tickets: entries.map(({ queue, entry }) => ({
      kind: queue.kind,
      name: queue.name,
      state: entry.ticket?.state ?? "malformed",
      units: entry.ticket?.count,
      token: entry.createRevision,
    })),
  };
}

/** Converts a drain to JSON. Times are wall clock, in ms since the epoch; `revision` is that of its last change. */
function toDrainDocument({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}

export function listOutcomeLines(outcome: ActionOutcome): string[] {
  const heading = outcome.heading === undefined ? formatHeading(outcome.result) : [outcome.heading];
  return [...heading, ...outcome.messages, ...formatRepeatLine(outcome)];
}

/** Formats the line that repeats a dry run. @returns no line if the outcome has none */
function formatRepeatLine({ repeat }: Pick<ActionOutcome, "repeat">): string[] {
  if (repeat === undefined) return [];
  return [repeat.startsWith("-") ? `do it with ${repeat} instead of --dry-run` : `do it with: ${repeat}`];
}

/** Formats the line above the changes that prevented an action. */
function formatHeading(result: OperationResult): string[] {
  if (!("outcome" in result) || result.outcome !== "changed") return [];
  if (result.kind === "prune") return [];
  const what = result.kind === "schedules" ? "schedules have" : "something has";
  return [`nothing was done, because ${what} changed:`];
}

/** How a prune ended, in words. */
export const PRUNE_ENDS: Readonly<Record<PruneResult["outcome"], string>> = {
  nothing: "nothing to do",
  "dry-run": "would be forgotten",
  declined: "nothing was done",
  done: "forgotten",
  changed: "nothing was done, because a host was seen or a run removed a mark meanwhile",
};

/** The message of a refusal if what was shown is there again. */
export const REVERTED_MESSAGE = "it changed and was reverted; run the command again";

export function createActionCommand<F extends object = ActionFlags>(
  work: (context: CommandContext<F>) => Promise<ActionOutcome>,
): ActionImplementation<F> {
  return {
    perform: (call, io) => withCommandContext(call, io, work),
    execute: createStoreCommand(async (context) => printOutcome(await work(context), context)),
  };
}

/**
 * Decides whether an action continues: with `--yes` always, otherwise the user at the terminal answers.
 * @param preview   what the user is shown before the question, one sentence each
 * @param question  ends in `?`
 * @throws UsageError if the user cannot be asked
 */
export async function confirmAction(
  { flags, io, printMessage }: ActionContext,
  preview: readonly string[],
  question: string,
): Promise<boolean> {
  if (flags.yes) return true;
  for (const line of preview) printMessage(line);
  if (!io.terminal.canAsk())
    throw new UsageError(
      "nothing was done: cannot ask for confirmation without a terminal; add --yes to go on, or --dry-run to see what would change",
    );
  const answer = await io.terminal.ask(`${question} [y/N] `);
  return /^y(es)?$/i.test((answer ?? "").trim());
}
