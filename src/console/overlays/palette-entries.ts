import { type Command, isRowCommand } from "../../cli/frame/command.ts";
import { listKnownHosts } from "../../cli/views/hosts.ts";
import { clean } from "../../core/base/text.ts";
import { buildQueueId, type Snapshot } from "../../site/state/snapshot.ts";
import type { ListedContext } from "../data/context-list.ts";
import { type KeyAction, listTabActions } from "../parts/keymap.ts";
import { hasFlag } from "../parts/row-actions.ts";
import type { TabId } from "../state/console-state.ts";
import type { ObjectKind } from "./name-state.ts";

/** The effect of choosing an entry. */
export type PaletteChoice =
  /** Runs a command of the registry, by its id. With arguments, it does not apply to the selected rows. */
  | { kind: "command"; id: string; args?: readonly string[] }
  /** Runs an action of the console, by the id that keys are bound to. */
  | { kind: "action"; id: string }
  /** Shows the state of etcd at a time, as typed. */
  | { kind: "travel"; time: string }
  /** Shows the cluster of another context. */
  | { kind: "context"; name: string | undefined }
  /** Goes to a tab, and optionally to a row in it. */
  | { kind: "go"; tab: TabId; key?: string }
  /** Goes to a row, and runs an action or a command on it. */
  | { kind: "on-row"; id: string; tab: TabId; key: string };

/** An entry of the palette. Its texts are clean. */
export interface PaletteEntry {
  /** Stays the same each time the palette opens: recent entries are stored by id. */
  readonly id: string;
  readonly kind: "view" | "command" | "action" | "context" | ObjectKind;
  readonly label: string;
  /** What it does; for a name, its kind. */
  readonly detail: string;
  /** As displayed: `Ctrl+P`. */
  readonly keys: readonly string[];
  /** Why it cannot be chosen now; undefined if it can. */
  readonly disabled?: string | undefined;
  /** The object that it shows or acts on. */
  readonly name?: readonly [kind: ObjectKind, name: string];
  /** The kinds of rows that it applies to, if it does so. */
  readonly rows?: KeyAction["rows"];
  readonly choice: PaletteChoice;
}

/** The conditions that decide which entries can be chosen. */
export interface ChoiceConditions {
  commands: readonly Command[];
  /** The actions that keys are bound to: commands that act on rows, and the console's own actions. */
  actions: readonly Pick<KeyAction, "id" | "brief" | "isChange" | "rows">[];
  isReadOnly: boolean;
  /** The snapshot is not live. */
  isAway: boolean;
  hasSelection: boolean;
  /** The snapshot is that of a past time. Commands are not possible, because they would show the present. */
  isPast?: boolean;
}

/** The inputs of the palette. */
interface PaletteOptions extends ChoiceConditions {
  views: readonly { tab: TabId; label: string }[];
  contexts?: readonly Pick<ListedContext, "name" | "label" | "detail" | "isActive" | "note">[];
  snapshot: Snapshot;
  /** Keys of an action or a command, as displayed. */
  getKeyLabels(id: string): readonly string[];
}

/**
 * Builds all entries: views, commands and console actions, then names by kind and in alphabetical order: groups before their
 * hosts, and hosts before what has their names in its own.
 */
export function buildPaletteEntries(options: PaletteOptions): PaletteEntry[] {
  const { commands, actions, views, contexts = [], snapshot } = options;
  const onRows = new Set(commands.filter(isRowCommand).map(({ id }) => id));
  return [
    ...views.map(
      ({ tab, label }): PaletteEntry => ({
        id: `view:${tab}`,
        kind: "view",
        label,
        detail: "view",
        keys: [],
        choice: { kind: "go", tab },
      }),
    ),
    ...commands
      .filter(({ id }) => !DONE_BY_ACTIONS.has(id) && !views.some(({ tab }) => id === `etcd ${tab}`))
      // An action can have the id of a command without a key: `edit` edits everything, or the selection.
      .map(({ id, brief }) => createExecutableEntry(options, { kind: "command", id }, brief, onRows.has(id))),
    ...ON_EVERYTHING.map(([id, detail]) =>
      createExecutableEntry(options, { kind: "command", id, args: ["all"] }, detail, false),
    ),
    ...actions
      .filter(({ id }) => !onRows.has(id) && !KEY_ONLY_ACTIONS.has(id))
      .map(({ id, brief }) => createExecutableEntry(options, { kind: "action", id }, brief, true)),
    ...contexts.map(createContextEntry),
    ...listNameEntries(snapshot),
  ];
}

/** Commands for which the console has an action or tabs that show more. */
const DONE_BY_ACTIONS: ReadonlySet<string> = new Set(
  "compare,logs,ls,overview,schedule dead,timeline,why".split(","),
);

/** Actions for keys only. They are not listed in the palette. */
const KEY_ONLY_ACTIONS: ReadonlySet<string> = new Set([
  ..."palette back up down left right top bottom pageUp pageDown open mark range".split(" "),
  ...listTabActions(),
]);

/** Commands that can apply to everything, and their descriptions. They do not depend on the selected row. */
const ON_EVERYTHING = [
  ["drain", "drain the whole cluster"],
  ["undrain", "lift the drain of everything"],
] as const;

function createExecutableEntry(
  options: PaletteOptions,
  choice: Extract<PaletteChoice, { kind: "command" | "action" }>,
  detail: string,
  hasKey: boolean,
): PaletteEntry {
  const { kind, id } = choice;
  const name = kind === "command" && choice.args ? `${id} ${choice.args.join(" ")}` : id;
  const keys = hasKey ? options.getKeyLabels(id) : [];
  const disabled = findChoiceObstacle(choice, options);
  const { rows } = options.actions.find((action) => action.id === id) ?? {};
  const texts = id.startsWith("user:")
    ? { label: clean(detail), detail: "your own command" }
    : { label: toSpokenName(name), detail };
  return { id: `${kind}:${name}`, kind, ...texts, keys, disabled, ...(rows && { rows }), choice };
}

/** Converts `copyJson` to `copy json`. */
function toSpokenName(id: string): string {
  return id.replace(/(?<=[a-z])(?=[A-Z\d])/g, " ").toLowerCase();
}

/** Creates the entry of a context: `ctx prod`. */
function createContextEntry(context: NonNullable<PaletteOptions["contexts"]>[number]): PaletteEntry {
  const { name, label, detail, isActive, note } = context;
  return {
    id: `context:${name ?? ""}`,
    kind: "context",
    label: `ctx ${label}`,
    detail: clean(`cluster ${detail}${note === "" ? "" : `, ${note}`}`),
    keys: [],
    disabled: isActive ? "shown already" : undefined,
    choice: { kind: "context", name },
  };
}

function listNameEntries(snapshot: Snapshot): PaletteEntry[] {
  const names = {
    group: new Set(snapshot.groups.keys()),
    host: listKnownHosts(snapshot),
    schedule: new Set(snapshot.schedules.keys()),
    lock: new Set(snapshot.histories.keys()),
    resource: new Set(snapshot.resources.keys()),
  };
  for (const { kind, name } of snapshot.queues.values()) names[kind].add(name);
  return (Object.keys(names) as ObjectKind[]).flatMap((kind) =>
    [...names[kind]].sort().map((name) => createNameEntry(kind, name)),
  );
}

function createNameEntry(kind: ObjectKind, name: string): PaletteEntry {
  const key = kind === "lock" || kind === "resource" ? buildQueueId(kind, name) : name;
  const choice = { kind: "go", tab: `${kind}s`, key } as const;
  return {
    id: `${kind}:${name}`,
    kind,
    label: clean(name),
    detail: kind,
    keys: [],
    name: [kind, name],
    choice,
  };
}

/** Commands that do not work in the console, and what to do instead. */
const SHELL_ONLY_COMMANDS: Readonly<Record<string, string>> = {
  run: "start it in another terminal",
  console: "already open",
  edit: "opens an editor: start it in another terminal",
  completion: "only useful in a shell",
  worker: "a service: start it in a terminal, or with systemd",
  agent: "a service: start it in a terminal, or with systemd",
  init: "etcd is set up already: see doctor",
  "setup etcd": "etcd is set up already: see doctor",
};

/** Actions that apply to the selected rows. */
export const ON_ROWS: ReadonlySet<string> = new Set(
  "copy copyJson copyCommand raw why whyDidItNotRun timeline whatIf output edit delete".split(" "),
);

/** Returns in a few words why a choice is not possible now, or undefined if it is. */
export function findChoiceObstacle(choice: PaletteChoice, conditions: ChoiceConditions): string | undefined {
  if (choice.kind !== "command" && choice.kind !== "action") return undefined;
  const { kind, id } = choice;
  const isCommand = kind === "command";
  if (isCommand && Object.hasOwn(SHELL_ONLY_COMMANDS, id)) return SHELL_ONLY_COMMANDS[id];
  const isChange = isCommand
    ? conditions.commands.some((command) => command.id === id && hasFlag(command, "dry-run"))
    : conditions.actions.some((action) => action.id === id && action.isChange);
  if (conditions.isPast && (isCommand || isChange)) return "not in the past";
  if (isChange && conditions.isReadOnly) return "read-only";
  if (isChange && conditions.isAway) return "etcd unreachable";
  return isCommand || conditions.hasSelection || !ON_ROWS.has(id) ? undefined : NO_SELECTION;
}

export const NO_SELECTION = "nothing is selected";
