import { drain } from "../../commands/act/drain/drain.ts";
import { COMMANDS, type DeclaredRowCommand, type RowCommandId } from "../../commands/registry/registry.ts";
import type { Command, RowCommand } from "../../commands/spec.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { findNamedQueue } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";

/** A command and the row it applies to. */
export interface RowAction {
  command: Command;
  args: readonly string[];
  /** How many of the arguments are fixed; undefined: all. */
  fixed?: number;
  /** Initial values of flags. */
  flags?: Readonly<Record<string, string | true>>;
  /** Present values of flags: shown, and passed only if they are changed. */
  present?: Readonly<Record<string, string | readonly string[]>>;
  /** Its target, for the user: `lock invoices`. */
  target: string;
}

/** An action, or the reason why it is not possible. */
export type RowActionResult = RowAction | { reason: string };

/** @throws Error for an unknown command: a defect */
export function getCommandById(id: string): Command {
  const command = COMMANDS.find((one) => one.id === id);
  if (command === undefined) throw new Error(`there is no command ${id}`);
  return command;
}

/** A row of the kinds that a command acts on. */
type RowOf<Id extends RowCommandId> = Subject & {
  kind: Extract<DeclaredRowCommand, { id: Id }>["rows"]["kinds"][number];
};

/** Builds the action of one command, without the command. */
type RowActionBuilder<Id extends RowCommandId> = (
  row: RowOf<Id>,
  snapshot: Snapshot,
) => Omit<RowAction, "command"> | { reason: string };

/** How each command that acts on rows is filled in for a row. */
const BUILDERS: { readonly [Id in RowCommandId]: RowActionBuilder<Id> } = {
  reset: (row, snapshot) =>
    row.kind === "run" ? buildRunResetAction(row, snapshot) : buildQueueResetAction(row, snapshot),
  release: (row, snapshot) =>
    row.kind === "run" ? createNamedAction([row.name], row) : buildReleaseAction(row, snapshot),
  drain: buildDrainAction,
  undrain: (row) =>
    createNamedAction(row.kind === "drain" ? toDrainArguments(row) : [row.kind, row.name], row),
  "schedule pause": buildScheduleAction,
  "schedule trigger": buildScheduleAction, // also of a paused schedule
  "schedule resume": (row, { schedules }) =>
    schedules.get(row.name)?.value?.pause === undefined
      ? { reason: `${formatSubjectName(row)} is not paused` }
      : buildScheduleAction(row),
};

/** Builds the action of a command for a row. */
export function buildRowAction(
  id: RowCommandId,
  subject: Subject | undefined,
  snapshot: Snapshot,
): RowActionResult {
  if (subject === undefined) return { reason: "nothing is selected" };
  const command = getCommandById(id) as DeclaredRowCommand;
  if (subject.kind === "record") {
    const { about, isEndedRun } = subject;
    const built = buildRowAction(id, about, snapshot);
    if (isEndedRun === undefined || about === undefined || "reason" in built) return built;
    if (command.rows.danger !== "endsRuns") return built;
    const place = about.kind === "lock" ? "Locks" : "Resources";
    return {
      reason: `this run has ended: see ${formatSubjectName(about)} in ${place}`,
    };
  }
  if (!isRowOf(command, subject)) return { reason: command.rows.refusal };
  const built = (BUILDERS[id] as RowActionBuilder<RowCommandId>)(subject, snapshot);
  return "reason" in built ? built : { command, ...built };
}

/** Whether a command acts on rows of this kind. */
function isRowOf({ rows }: RowCommand, subject: Subject): subject is RowOf<RowCommandId> {
  return rows.kinds.some((kind) => kind === subject.kind);
}

/** Formats the name of a subject for the user. */
export function formatSubjectName(subject: Subject): string {
  if (subject.kind === "drain")
    return subject.scope === "all" ? "everything" : `${subject.scope} ${subject.name}`;
  return `${subject.kind} ${subject.name}`;
}

function createNamedAction(args: readonly string[], row: Subject): Omit<RowAction, "command"> {
  return { args, target: formatSubjectName(row) };
}

function buildQueueResetAction(
  row: RowOf<"reset"> & { kind: QueueKind },
  snapshot: Snapshot,
): ReturnType<RowActionBuilder<"reset">> {
  const isHeld = findNamedQueue(snapshot, row.kind, row.name)?.entries.some(isHolding) === true;
  return isHeld
    ? createNamedAction([row.kind, row.name], row)
    : { reason: `nobody holds ${formatSubjectName(row)}` };
}

function buildRunResetAction(
  { name, queue }: Subject & { kind: "run" },
  snapshot: Snapshot,
): ReturnType<RowActionBuilder<"reset">> {
  const entries = queue && findNamedQueue(snapshot, queue.kind, queue.name)?.entries;
  if (queue === undefined || !entries?.some((entry) => entry.run === name && isHolding(entry)))
    return { reason: "the run is waiting: K releases it" };
  return { args: [queue.kind, queue.name], flags: { run: name }, target: `${queue.kind} ${queue.name}` };
}

/** Builds the release of the only run that waits for a lock or a resource. */
function buildReleaseAction(
  row: RowOf<"release"> & { kind: QueueKind },
  snapshot: Snapshot,
): ReturnType<RowActionBuilder<"release">> {
  const entries = findNamedQueue(snapshot, row.kind, row.name)?.entries ?? [];
  const waiters = entries.filter((entry) => !isHolding(entry));
  const [only] = waiters;
  if (only === undefined) return { reason: `nobody waits for ${formatSubjectName(row)}` };
  if (waiters.length > 1) return { reason: `${waiters.length} runs wait: select one in Queues` };
  return { args: [only.run], target: `run ${only.run}` };
}

/** Builds the drain of a row. For a run, that of the lock or resource in whose queue it was found. */
function buildDrainAction(row: RowOf<"drain">): ReturnType<RowActionBuilder<"drain">> {
  if (row.kind === "drain") return { reason: "already drained: U lifts the drain" };
  const subject = row.kind === "run" ? row.queue : row;
  if (subject === undefined) return { reason: drain.rows.refusal };
  return createNamedAction([subject.kind, subject.name], subject);
}

function toDrainArguments({ scope, name }: Subject & { kind: "drain" }): string[] {
  return scope === "all" ? [scope] : [scope, name];
}

function buildScheduleAction({ name }: Subject & { kind: "schedule" }): Omit<RowAction, "command"> {
  return { args: [name], target: name };
}
