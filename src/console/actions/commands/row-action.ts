import { COMMANDS } from "../../../commands/registry/registry.ts";
import type { Command } from "../../../commands/spec.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { findNamedQueue } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import { isHolding } from "../../../protocol/admission.ts";

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

/** Builds the action of a command for a row. @param id  a command that acts on rows */
export function buildRowAction(
  id: string,
  subject: Subject | undefined,
  snapshot: Snapshot,
): RowActionResult {
  if (subject === undefined) return { reason: "nothing is selected" };
  if (subject.kind === "record") return buildRowAction(id, subject.about, snapshot);
  switch (id) {
    case "reset":
      return buildResetAction(subject, snapshot);
    case "release":
      return buildReleaseAction(subject, snapshot);
    case "drain":
      return buildDrainAction(subject);
    case "undrain":
      return buildUndrainAction(subject);
    case "schedule pause":
    case "schedule resume":
    case "schedule trigger":
      return buildScheduleAction(id, subject, snapshot);
    default:
      return { reason: `${id} does not apply to a row` };
  }
}

/** Formats the name of a subject for the user. */
export function formatSubjectName(subject: Subject): string {
  if (subject.kind === "drain")
    return subject.scope === "all" ? "everything" : `${subject.scope} ${subject.name}`;
  return `${subject.kind} ${subject.name}`;
}

function buildResetAction(subject: Subject, snapshot: Snapshot): RowActionResult {
  const command = getCommandById("reset");
  if (subject.kind === "lock" || subject.kind === "resource") {
    const { kind, name } = subject;
    const isHeld = findNamedQueue(snapshot, kind, name)?.entries.some(isHolding) === true;
    return isHeld
      ? { command, args: [kind, name], target: formatSubjectName(subject) }
      : { reason: `nobody holds ${formatSubjectName(subject)}` };
  }
  if (subject.kind === "run") return buildRunResetAction(subject, snapshot);
  return { reason: "only a held lock or resource can be reset" };
}

function buildRunResetAction(
  { name, queue }: Subject & { kind: "run" },
  snapshot: Snapshot,
): RowActionResult {
  const entries = queue && findNamedQueue(snapshot, queue.kind, queue.name)?.entries;
  if (queue === undefined || !entries?.some((entry) => entry.run === name && isHolding(entry)))
    return { reason: "the run is waiting: K releases it" };
  const target = `${queue.kind} ${queue.name}`;
  return { command: getCommandById("reset"), args: [queue.kind, queue.name], flags: { run: name }, target };
}

/**
 * Builds a pause, resume or trigger action. Only a paused schedule can be resumed; a paused schedule can be
 * triggered.
 */
function buildScheduleAction(id: string, subject: Subject, { schedules }: Snapshot): RowActionResult {
  if (subject.kind !== "schedule") return { reason: `${id} applies only to schedules` };
  const { name } = subject;
  const hasPause = schedules.get(name)?.value?.pause !== undefined;
  if (id === "schedule resume" && !hasPause) return { reason: `${formatSubjectName(subject)} is not paused` };
  return { command: getCommandById(id), args: [name], target: name };
}

function buildReleaseAction(subject: Subject, snapshot: Snapshot): RowActionResult {
  const command = getCommandById("release");
  if (subject.kind === "run") return { command, args: [subject.name], target: formatSubjectName(subject) };
  if (subject.kind !== "lock" && subject.kind !== "resource")
    return { reason: "only waiting runs can be released: see Queues" };
  const waiters =
    findNamedQueue(snapshot, subject.kind, subject.name)?.entries.filter((entry) => !isHolding(entry)) ?? [];
  const [only] = waiters;
  if (only === undefined) return { reason: `nobody waits for ${formatSubjectName(subject)}` };
  if (waiters.length > 1) return { reason: `${waiters.length} runs wait: select one in Queues` };
  return { command, args: [only.run], target: `run ${only.run}` };
}

function buildDrainAction(subject: Subject): RowActionResult {
  const command = getCommandById("drain");
  switch (subject.kind) {
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { command, args: [subject.kind, subject.name], target: formatSubjectName(subject) };
    case "drain":
      return { reason: "already drained: U lifts the drain" };
    default:
      return subject.kind === "run" && subject.queue !== undefined
        ? buildDrainAction(subject.queue)
        : { reason: "only locks, resources, hosts and groups can be drained" };
  }
}

function buildUndrainAction(subject: Subject): RowActionResult {
  const command = getCommandById("undrain");
  switch (subject.kind) {
    case "drain": {
      const { scope, name } = subject;
      return { command, args: scope === "all" ? [scope] : [scope, name], target: formatSubjectName(subject) };
    }
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { command, args: [subject.kind, subject.name], target: formatSubjectName(subject) };
    default:
      return { reason: "only locks, resources, hosts and groups can be undrained" };
  }
}
