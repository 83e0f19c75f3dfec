import type { CommandContext } from "../cli/frame/store-command.ts";
import { listUsedVariables, quoteShellWord } from "../core/base/shell.ts";
import { quoteText } from "../core/base/text.ts";
import { isHolding } from "../core/protocol/admission.ts";
import { findClaim, findClaimHost } from "../site/state/claims.ts";
import { buildQueueId, type Snapshot } from "../site/state/snapshot.ts";
import { type ActionableSubject, type Subject, toActionable } from "../site/state/subject.ts";
import type { KeyAction } from "./parts/keymap.ts";

type Settings = CommandContext["settings"];
export type UserCommand = Settings["userCommands"][number];

/** Lists the user's commands that apply to a row. Without a row, only those for rows of all kinds. */
export function listUserCommands(
  settings: Pick<Settings, "userCommands">,
  subject: Subject | undefined,
): UserCommand[] {
  const kind = toActionable(subject)?.kind;
  return settings.userCommands.filter(({ rows }) => rows === "any" || rows.some((one) => one === kind));
}

/**
 * Lists the user's commands as actions, for `createKeymap`: before the console's own actions, so that the user's keys have
 * priority. The id of an action is `user:TITLE`.
 */
export function listUserKeyActions(commands: readonly UserCommand[]): KeyAction[] {
  return commands.map(({ title, rows, key }) => ({
    id: `user:${title}`,
    brief: title,
    keys: key === undefined ? [] : [key],
    context: "list",
    rows,
  }));
}

/** The inputs of a user command besides its row. */
interface UserCommandContext {
  readonly snapshot: Pick<Snapshot, "queues" | "executions">;
  readonly settings: Pick<Settings, "prefix" | "context" | "readOnly">;
}

/** A user command that can be started. */
export interface BuiltUserCommand {
  readonly argv: readonly [string, ...string[]];
  /** Variables in addition to those of the console. Empty ones replace variables that the console was started with. */
  readonly env: Readonly<Record<string, string>>;
  /** The same command as a line for a shell, to show and to copy. */
  readonly line: string;
}

/**
 * Builds a user command for a row. The values of the row are passed in the environment and never become part of the
 * text, so the shell does not parse names of locks.
 * @returns the command, or why it cannot run for this row: a value that it uses is missing, or looks like an option
 */
export function buildUserCommand(
  { title, command }: UserCommand,
  subject: Subject | undefined,
  context: UserCommandContext,
): BuiltUserCommand | { reason: string } {
  const values = collectValues(subject, context);
  const used = listUsedVariables(command);
  for (const [name, value] of Object.entries(values)) {
    const isNeeded = used.some((one) => one.name === name && !one.hasDefault);
    const fault = findValueFault(name, value, isNeeded);
    if (fault !== undefined) return { reason: `${title}: ${fault}` };
  }
  const assignments = Object.entries(values)
    .filter(([name]) => used.some((one) => one.name === name))
    .map(([name, value]) => `${name}=${quoteShellWord(value)}`);
  return {
    argv: ["/bin/sh", "-c", command],
    env: {
      ...values,
      // Calls of signalbox must reach the displayed cluster, and must not change more than the console may.
      SIGNALBOX_CONTEXT: context.settings.context ?? "",
      ...(context.settings.readOnly && { SIGNALBOX_READ_ONLY: "true" }),
    },
    line: [...assignments, "sh -c", quoteShellWord(command)].join(" "),
  };
}

function findValueFault(name: string, value: string, isNeeded: boolean): string | undefined {
  if (value === "") return isNeeded ? `this row has no ${name}` : undefined;
  if (value.includes("\0")) return `${name} contains a NUL character`;
  // `ssh -oProxyCommand=…` runs a program. Checked even if the text does not use the value: a program that it starts may.
  return value.startsWith("-")
    ? `${name} ${quoteText(value)} begins with "-": programs would take it for an option`
    : undefined;
}

function collectValues(
  subject: Subject | undefined,
  { snapshot, settings: { prefix, context = "" } }: UserCommandContext,
) {
  const values = { NAME: "", KIND: "", HOST: "", RUN: "", PREFIX: prefix, CONTEXT: context };
  const row = toActionable(subject);
  if (row === undefined) return values;
  // An ended run has no values for RUN and HOST: the current holder is another run.
  const isEnded = subject?.kind === "record" && subject.isEndedRun === true;
  const runs = isEnded ? [] : listRuns(row, snapshot);
  const [{ run = "", host = "" } = {}] = runs.length === 1 ? runs : [];
  // The kind of a drain is that of its target: `signalbox undrain "$KIND" "$NAME"`.
  const kind = row.kind === "drain" ? row.scope : row.kind;
  const isHost = kind === "host";
  return { ...values, NAME: row.name, KIND: kind, HOST: isHost ? row.name : host, RUN: run };
}

/** Lists the runs of a row with their hosts: the run itself, holders, or running occurrences of a schedule. */
function listRuns(
  { kind, name }: ActionableSubject,
  { queues, executions }: UserCommandContext["snapshot"],
): { run: string; host?: string | undefined }[] {
  if (kind === "lock" || kind === "resource") {
    const { entries = [] } = queues.get(buildQueueId(kind, name)) ?? {};
    return entries.filter(isHolding).map(({ run, ticket }) => ({ run, host: ticket?.host }));
  }
  if (kind === "schedule") return (executions.get(name) ?? []).flatMap(({ value }) => value ?? []);
  if (kind !== "run") return [];
  const claim = findClaim({ queues }, name);
  if (claim !== undefined) return [{ run: name, host: findClaimHost(claim) }];
  const tasks = [...executions.values()].flat().flatMap(({ value }) => value ?? []);
  return [tasks.find(({ run }) => run === name) ?? { run: name }];
}
