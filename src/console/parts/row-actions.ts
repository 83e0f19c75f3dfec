import { drain } from "../../cli/commands/act/drain.ts";
import { COMMANDS, type DeclaredRowCommand, type RowCommandId } from "../../cli/commands/registry.ts";
import { toEditFlags } from "../../cli/commands/schedule/definition-flags.ts";
import { type Command, isRowCommand, type RowCommand } from "../../cli/frame/command.ts";
import type { ActionOutcome, OperationResult } from "../../cli/frame/outcome.ts";
import { EXIT } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import { findHostResource } from "../../site/state/shares.ts";
import { findNamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import { type Subject, toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { Jobs } from "../data/jobs.ts";
import type { ShownData } from "../data/live-view.ts";
import type { TabId } from "../state/console-state.ts";

/** A command and the row it applies to. */
export interface RowAction {
  command: Command;
  args: readonly string[];
  /** Number of fixed arguments; undefined: all. */
  fixed?: number;
  /** Initial values of flags. */
  flags?: Readonly<Record<string, string | true | readonly string[]>> | undefined;
  /** Current values of flags. They are shown, and passed only if they are changed. */
  present?: Readonly<Record<string, string | readonly string[]>> | undefined;
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

/** Builds everything but the command of an action. */
type RowActionBuilder<Id extends RowCommandId> = (
  row: RowOf<Id>,
  snapshot: Snapshot,
) => Omit<RowAction, "command"> | { reason: string };

const BUILDERS: { readonly [Id in RowCommandId]: RowActionBuilder<Id> } = {
  reset: buildResetAction,
  drain: buildDrainAction,
  undrain: (row) => {
    if (row.kind === "drain") return createNamedAction(toDrainArguments(row), row);
    const target = toDrainTarget(row);
    return createNamedAction([target.kind, target.name], target);
  },
  "schedule pause": buildScheduleAction,
  "schedule trigger": buildScheduleAction, // also of a paused schedule
  "schedule resume": (row, { schedules, dues }) =>
    [schedules, dues].every((stored) => stored.get(row.name)?.value?.pause === undefined)
      ? { reason: `${formatSubjectName(row)} is not paused` }
      : buildScheduleAction(row),
};

export function buildRowAction(
  id: RowCommandId,
  subject: Subject | undefined,
  snapshot: Snapshot,
): RowActionResult {
  if (subject === undefined) return { reason: "nothing is selected" };
  const command = getCommandById(id) as DeclaredRowCommand;
  if (subject.kind === "record" && subject.about !== undefined) {
    const { about, isEndedRun } = subject;
    const built = buildRowAction(id, about, snapshot);
    if (isEndedRun === undefined || "reason" in built) return built;
    if (command.rows.danger !== "endsRuns") return built;
    const tab = about.kind === "lock" ? "Locks" : "Resources";
    return {
      reason: `this run has ended: see ${formatSubjectName(about)} in ${tab}`,
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

/** Formats the name of a subject for the user: for a record, that of the object which it is about. */
export function formatSubjectName(subject: Subject): string {
  if (subject.kind === "record") return subject.about ? formatSubjectName(subject.about) : subject.name;
  if (subject.kind === "drain")
    return subject.scope === "all" ? "everything" : `${subject.scope} ${subject.name}`;
  return `${subject.kind} ${subject.name}`;
}

function createNamedAction(args: readonly string[], row: Subject): Omit<RowAction, "command"> {
  return { args, target: formatSubjectName(row) };
}

function buildResetAction(row: RowOf<"reset">, snapshot: Snapshot): ReturnType<RowActionBuilder<"reset">> {
  const canReset =
    row.kind === "run" || findNamedQueue(snapshot, row.kind, row.name)?.entries.some(isHolding) === true;
  return canReset
    ? createNamedAction([row.kind, row.name], { kind: row.kind, name: row.name })
    : { reason: `nobody holds ${formatSubjectName(row)}` };
}

/** Builds the drain of a row: for a run, that of the lock or resource in whose queue it was found. */
function buildDrainAction(row: RowOf<"drain">): ReturnType<RowActionBuilder<"drain">> {
  if (row.kind === "drain") return { reason: "already drained: U lifts the drain" };
  const subject = row.kind === "run" ? row.queue : toDrainTarget(row);
  if (subject === undefined) return { reason: drain.rows.refusal };
  return createNamedAction([subject.kind, subject.name], subject);
}

/** Returns what a drain of a row is of: for a cell in the row of a host, the host. */
function toDrainTarget<S extends Subject>(row: S): S | { kind: "host"; name: string } {
  return row.kind === "resource" && row.host !== undefined ? { kind: "host", name: row.host } : row;
}

function toDrainArguments({ scope, name }: Subject & { kind: "drain" }): string[] {
  return scope === "all" ? [scope] : [scope, name];
}

function buildScheduleAction({ name }: Pick<Subject, "name">): Omit<RowAction, "command"> {
  return { args: [name], target: name };
}

export interface CommandPreview {
  /** Undefined if the preview failed; the messages then give the reason. */
  revision: string | undefined;
  /** How the dry run ended; `failed`: the command cannot be done. */
  outcome: Extract<OperationResult, { outcome: string }>["outcome"] | "failed";
  messages: readonly string[];
  /** One key for each message. It stays the same while ages in the message change. */
  messageKeys: readonly string[];
  /** Whether the command ends at least one run that may be alive: its verdict is not `gone`. */
  isLive: boolean;
  /** The runs that the command ends, as one text. If two previews differ in it, they concern different runs. */
  affectedRuns: string;
}

/** What a preview has of the text of a command: it is wrapped for each frame. */
const MOST_LINES = 200;
const LONGEST_LINE = 2_000;

/** The inputs of `runPreview` besides the command. */
interface PreviewPorts {
  signal: AbortSignal;
  /** Describes the consequences of the command in one line; undefined if there are none. */
  describeNext?: ((result: OperationResult) => string | undefined) | undefined;
}

/**
 * Runs a command with `--dry-run`, or one that only reads. Changes nothing and never fails.
 * @param words  the words after its name
 */
export async function runPreview(
  jobs: Pick<Jobs, "perform">,
  command: Command,
  words: readonly string[],
  { signal, describeNext }: PreviewPorts,
): Promise<CommandPreview> {
  const messages: string[] = [];
  const writeLine = (text: string) => {
    if (messages.length < MOST_LINES) messages.push(text.slice(0, LONGEST_LINE));
  };
  const flags = hasFlag(command, "dry-run") ? ["--dry-run"] : [];
  const { exitCode, outcome } = await jobs.perform(command, [...flags, ...words], { writeLine, signal });
  if (outcome !== undefined) return createPreview(outcome, describeNext);
  const text = createFailedPreview(messages);
  return exitCode === EXIT.ok ? { ...text, outcome: "dry-run" } : text;
}

/**
 * Whether a dialog shows what a command would do, or what it prints. A command without a dry run in another topic may do
 * something: `hook test`. `logs` asks the host of a run through etcd, and may go on.
 */
export function hasPreview(command: Command): boolean {
  return hasFlag(command, "dry-run") || (command.topic === "See" && !hasFlag(command, "follow"));
}

export function hasFlag({ flags = [] }: Command, name: string): boolean {
  return flags.some((flag) => flag.name === name);
}

/**
 * Creates the preview from the outcome of a dry run. The consequences come first, because a small screen cuts off the
 * end.
 */
export function createPreview(
  end: ActionOutcome,
  describeNext: PreviewPorts["describeNext"] = () => undefined,
): CommandPreview {
  const { exitCode, result, messages, messageKeys = messages, notes } = end;
  if (exitCode !== EXIT.ok || !("outcome" in result)) return createFailedPreview(messages);
  const next = describeNext(result);
  const first = next === undefined ? [] : [next];
  return {
    revision: String(result.revision),
    outcome: result.outcome,
    messages: [...first, ...messages, ...notes].map((text) => clean(text)),
    messageKeys: [...first, ...messageKeys, ...notes],
    isLive: result.kind === "eviction" && result.runners.some(({ verdict }) => verdict !== "gone"),
    affectedRuns: listEndedRuns(result).join(" "),
  };
}

function listEndedRuns(result: OperationResult): string[] {
  switch (result.kind) {
    case "eviction":
      return result.preview.evicted.map(({ run }) => run);
    case "drain":
      return result.endsHolders ? result.holders.map(({ run }) => run) : [];
    default:
      return [];
  }
}

function createFailedPreview(messages: readonly string[]): CommandPreview {
  const outcome = "failed" as const;
  const cleaned = messages.map((text) => clean(text));
  return {
    revision: undefined,
    outcome,
    messages: cleaned,
    messageKeys: cleaned,
    isLive: false,
    affectedRuns: "",
  };
}

/**
 * Finds what the user must type to confirm a command; undefined if Enter is enough.
 * @param items  the arguments of the command for each item; the last one is the name
 * @param runs  ids of all runs
 */
export function findConfirmationWord(
  command: Command,
  items: readonly (readonly string[])[],
  previews: readonly CommandPreview[] = [],
  runs: Iterable<string> = [],
): string | undefined {
  const danger = isRowCommand(command) ? command.rows.danger : undefined;
  const stopsAll = danger === "stopsRuns" && items.some((args) => args.includes("all"));
  const endsRuns = danger === "endsRuns" && previews.some(({ isLive }) => isLive);
  if (!stopsAll && !endsRuns) return undefined;
  if (items.length > 1) return String(items.length);
  if (stopsAll) return "all";
  const [kind, name = ""] = items[0] ?? [];
  return kind === "run" ? shortenRunId(name, runs) : clean(name); // as it is shown: the user cannot type what is not
}

/** The first characters of a run id that name a run in commands and filters. */
const SHORTEST_RUN_ID_CHARACTERS = 4;

/** Shortens the id of a run to the first characters that no other run has, at least four. */
function shortenRunId(id: string, runs: Iterable<string>): string {
  let length = SHORTEST_RUN_ID_CHARACTERS;
  for (const run of runs)
    while (run !== id && length < id.length && run.startsWith(id.slice(0, length))) length += 1;
  return id.slice(0, length);
}

/** Returns why nothing can be changed now, or undefined if changes are possible. */
export function findChangeObstacle({
  isReadOnly,
  liveView,
}: Pick<ConsoleApp, "isReadOnly" | "liveView">): string | undefined {
  const obstacle = findPastObstacle(liveView);
  if (obstacle !== undefined) return obstacle;
  if (isReadOnly) return "this console is read-only";
  const { kind } = liveView.connection;
  if (kind === "refused") return "etcd refuses access: changes are not possible now";
  return kind === "live" ? undefined : "etcd is unreachable: changes are not possible now";
}

/** Returns why no command can run now: in the past, its output would be about the present. */
export function findPastObstacle({ past }: ShownData): string | undefined {
  return past === undefined
    ? undefined
    : "this is the past: nothing can be changed or run; a returns to live";
}

/** Returns whether no command can run now because the past is shown. If so, shows that. */
export function isRefusedInPast(app: ConsoleApp): boolean {
  const obstacle = findPastObstacle(app.liveView);
  if (obstacle !== undefined) app.showToast(obstacle, "problem");
  return obstacle !== undefined;
}

/**
 * Builds the action that edits the configuration of a group, a resource or a schedule, starting with its current
 * values. If a resource of a host has no configured total, edits the configuration under its name with macros.
 */
export function buildEditAction(row: Subject | undefined, snapshot: Snapshot): RowActionResult {
  const subject = toActionable(row);
  if (subject?.kind === "group") {
    const members = snapshot.groups.get(subject.name)?.value ?? [];
    const group = createNamedAction([subject.name, ...members], subject);
    return { command: getCommandById("group set"), ...group, fixed: 1 };
  }
  if (subject?.kind === "resource") {
    const { config } = findHostResource(snapshot, subject.name) ?? {};
    const { total = config?.total, note, order } = snapshot.resources.get(subject.name)?.value ?? {};
    const flags = {
      ...(note !== undefined && { note }),
      ...(order !== undefined && { order: String(order) }),
    };
    const resource = createNamedAction([subject.name, ...(total === undefined ? [] : [total])], subject);
    return { command: getCommandById("resource set"), ...resource, flags, fixed: 1 };
  }
  if (subject?.kind === "schedule") {
    const { value } = snapshot.schedules.get(subject.name) ?? {};
    const flags = { cron: [value?.cron ?? ""].flat(), ...(value && { timezone: value.timezone }) };
    return {
      command: getCommandById("schedule edit"),
      ...buildScheduleAction(subject),
      flags,
      present: value && toEditFlags(value),
    };
  }
  return { reason: "only groups, resources and schedules can be edited" };
}

/** The command that creates the objects of a tab, and the noun for them. */
const CREATE_COMMANDS: Partial<Record<TabId, readonly [id: string, what: string]>> = {
  groups: ["group set", "group"],
  hosts: ["group set", "group"],
  resources: ["resource set", "resource"],
  drains: ["drain", "drain"],
  schedules: ["schedule add", "schedule"],
};

/** Builds the action that creates an item of the kind that the tab shows. */
export function buildCreateAction(tab: TabId): RowActionResult {
  const [id, target] = CREATE_COMMANDS[tab] ?? [];
  if (id !== undefined) return { command: getCommandById(id), args: [], fixed: 0, target: `a new ${target}` };
  return { reason: "create groups, resources, drains or schedules in their own tabs" };
}

export function buildDeleteAction(row: Subject | undefined): RowActionResult {
  const subject = toActionable(row);
  if (subject?.kind === "group" || subject?.kind === "resource" || subject?.kind === "schedule")
    return {
      command: getCommandById(`${subject.kind} delete`),
      args: [subject.name],
      target: subject.kind === "schedule" ? subject.name : formatSubjectName(subject),
    };
  return { reason: "only groups, schedules and configured resources can be deleted" };
}
