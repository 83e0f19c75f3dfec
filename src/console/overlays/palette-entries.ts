import { clean } from "../../base/text.ts";
import { type Command, isRowCommand } from "../../commands/spec.ts";
import { buildQueueId, type Snapshot } from "../../state/snapshot.ts";
import type { ListedContext } from "../data/context-list.ts";
import type { KeyAction } from "../parts/key-actions.ts";
import type { TabId } from "../state/console-state.ts";

/** The kinds of palette entries. */
export const ENTRY_KINDS = [
  "command",
  "action",
  "view",
  "context",
  "lock",
  "resource",
  "host",
  "group",
  "schedule",
] as const;

type EntryKind = (typeof ENTRY_KINDS)[number];

/** What choosing an entry does. */
export type PaletteChoice =
  /** Runs a command of the registry, by its id. With arguments, it does not apply to the selected rows. */
  | { kind: "command"; id: string; args?: readonly string[] }
  /** Runs an action of the console, by the id that keys are bound to. */
  | { kind: "action"; id: string }
  /** Shows the console as it was at a time, as typed. */
  | { kind: "travel"; time: string }
  /** Shows the cluster of another context. */
  | { kind: "context"; name: string | undefined }
  /** Goes to a tab, and optionally to a row in it. */
  | { kind: "go"; tab: TabId; key?: string };

/** An entry of the palette. Its texts are clean. */
export interface PaletteEntry {
  /** Stays the same each time the palette opens: recent entries are stored by id. */
  readonly id: string;
  readonly kind: EntryKind;
  readonly label: string;
  /** What it does; for a name, its kind. */
  readonly detail: string;
  /** As displayed: `Ctrl+P`. */
  readonly keys: readonly string[];
  /** Why it cannot be chosen now; undefined if it can. */
  readonly disabled?: string;
  readonly choice: PaletteChoice;
}

/** What the palette is built from. */
interface PaletteOptions {
  commands: readonly Command[];
  /** The actions that keys are bound to: commands that act on rows, and the console's own actions. */
  actions: readonly Pick<KeyAction, "id" | "brief">[];
  views: readonly { tab: TabId; label: string; brief?: string }[];
  contexts?: readonly Pick<ListedContext, "name" | "label" | "detail" | "isActive" | "note">[];
  snapshot: Pick<Snapshot, "queues" | "histories" | "resources" | "hosts" | "groups" | "schedules">;
  /** Keys of an action or a command, as displayed. */
  getKeyLabels(id: string): readonly string[];
  /** Why a choice is not possible now; undefined if it is. */
  findObstacle(choice: PaletteChoice): string | undefined;
}

/** Builds all entries: views, commands and console actions, then names by kind and in alphabetical order. */
export function buildPaletteEntries(options: PaletteOptions): PaletteEntry[] {
  const { commands, actions, views, snapshot } = options;
  const bound = new Set(commands.filter(isRowCommand).map(({ id }) => id));
  const doing = actions.filter(({ id }) => !bound.has(id) && !MOVES.has(id));
  return [
    ...views.map((view) => createViewEntry(view)),
    ...commands
      .filter(({ id }) => !SHOWN_BY_ACTIONS.has(id))
      .flatMap((command) => [
        createCommandEntry(options, command),
        ...(ON_EVERYTHING.has(command.id) ? [createEverythingEntry(options, command.id)] : []),
      ]),
    ...doing.map(({ id, brief }) =>
      createExecutableEntry(options, { kind: "action", id }, toSpokenName(id), brief),
    ),
    ...(options.contexts ?? []).map(createContextEntry),
    ...listNameEntries(snapshot),
  ];
}

/** Commands that can apply to everything, and what they then do. They do not depend on the selected row. */
const ON_EVERYTHING: ReadonlyMap<string, string> = new Map([
  ["drain", "drain the whole cluster"],
  ["undrain", "lift the drain of everything"],
]);

function createEverythingEntry(options: PaletteOptions, id: string): PaletteEntry {
  const choice = { kind: "command", id, args: ["all"] } as const;
  const entry = createExecutableEntry(options, choice, `${id} all`, ON_EVERYTHING.get(id) ?? "");
  // The key of the command applies to rows.
  return { ...entry, id: `command:${id} all`, keys: [] };
}

/** Creates the entry of a context: `ctx prod`. */
function createContextEntry(context: NonNullable<PaletteOptions["contexts"]>[number]): PaletteEntry {
  const { name, label, detail, isActive, note } = context;
  const entry = { id: `context:${name ?? ""}`, kind: "context" as const, label: `ctx ${label}`, keys: [] };
  const text = clean(`cluster ${[detail, ...(note === "" ? [] : [note])].join(", ")}`);
  const choice = { kind: "context" as const, name };
  return { ...entry, detail: text, choice, ...(isActive && { disabled: "shown already" }) };
}

function createCommandEntry(options: PaletteOptions, command: Command): PaletteEntry {
  const { id, brief } = command;
  const entry = createExecutableEntry(options, { kind: "command", id }, id, brief);
  // An action can have the id of a command without a key: the command `edit` edits everything, the action the selection.
  return isRowCommand(command) ? entry : { ...entry, keys: [] };
}

function createExecutableEntry(
  { getKeyLabels, findObstacle }: PaletteOptions,
  choice: Extract<PaletteChoice, { id: string }>,
  label: string,
  detail: string,
): PaletteEntry {
  const { kind, id } = choice;
  const disabled = findObstacle(choice);
  const entry = { id: `${kind}:${id}`, kind, label, detail, keys: getKeyLabels(id), choice };
  return disabled === undefined ? entry : { ...entry, disabled };
}

/** Converts `copyJson` to `copy json`. */
function toSpokenName(id: string): string {
  return id.replace(/(?<=[a-z])(?=[A-Z\d])/g, " ").toLowerCase();
}

function createViewEntry({ tab, label, brief }: PaletteOptions["views"][number]): PaletteEntry {
  return {
    id: `view:${tab}`,
    kind: "view",
    label,
    detail: brief ?? "view",
    keys: [],
    choice: { kind: "go", tab },
  };
}

function listNameEntries({
  queues,
  histories,
  resources,
  hosts,
  groups,
  schedules,
}: PaletteOptions["snapshot"]): PaletteEntry[] {
  const [locks, counted] = [new Set(histories.keys()), new Set(resources.keys())];
  for (const { kind, name } of queues.values()) (kind === "lock" ? locks : counted).add(name);
  return [
    ...createNameEntries("lock", "locks", locks, (name) => buildQueueId("lock", name)),
    ...createNameEntries("resource", "resources", counted, (name) => buildQueueId("resource", name)),
    ...createNameEntries("host", "hosts", hosts.keys(), (name) => name),
    ...createNameEntries("group", "groups", groups.keys(), (name) => name),
    ...createNameEntries("schedule", "schedules", schedules.keys(), (name) => name),
  ];
}

function createNameEntries(
  kind: EntryKind,
  tab: TabId,
  names: Iterable<string>,
  toKey: (name: string) => string,
): PaletteEntry[] {
  return [...names].sort().map((name) => ({
    id: `${kind}:${name}`,
    kind,
    label: clean(name),
    detail: kind,
    keys: [],
    choice: { kind: "go", tab, key: toKey(name) },
  }));
}

/** Whether an entry runs something, rather than going somewhere. */
export function isExecutable({ kind }: PaletteEntry): boolean {
  return kind === "command" || kind === "action";
}

/** Commands that do not work in the console, and what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  run: "start it in another terminal",
  logs: "start it in another terminal",
  console: "already open",
  edit: "opens an editor: start it in another terminal",
  completion: "only useful in a shell",
  exporter: "a service: start it in a terminal, or with systemd",
  worker: "a service: start it in a terminal, or with systemd",
  agent: "a service: start it in a terminal, or with systemd",
  init: "etcd is set up already: see doctor",
  "setup etcd": "etcd is set up already: see doctor",
  ls: "see the tabs",
  "group list": "see the tab Groups",
  "schedule list": "see the tab Schedules",
  "resource list": "see the tab Resources",
};

/** Actions for keys only. They are not listed in the palette. */
const MOVES: ReadonlySet<string> = new Set(
  "palette back up down left right top bottom pageUp pageDown open mark range".split(" "),
);

/** Actions that apply to the selected rows. */
const ON_ROWS: ReadonlySet<string> = new Set(
  "copy copyJson copyCommand why whyDidItNotRun timeline whatIf edit delete".split(" "),
);

/** All commands and actions. */
interface KnownChoices {
  commands: readonly Command[];
  actions: readonly Pick<KeyAction, "id" | "isChange">[];
}

/** The conditions that decide what can be chosen. */
export interface ChoiceConditions {
  isReadOnly: boolean;
  /** The snapshot is not live. */
  isAway: boolean;
  hasSelection: boolean;
  /** The snapshot is that of a past time; commands would show the present. */
  isPast?: boolean;
}

/** Commands for which the console has an action of the same name, which shows more. */
const SHOWN_BY_ACTIONS: ReadonlySet<string> = new Set(["timeline", "collisions"]);

/** Returns in a few words why a choice is not possible now, or undefined if it is. */
export function findChoiceObstacle(
  choice: PaletteChoice,
  { commands, actions }: KnownChoices,
  { isReadOnly, isAway, hasSelection, isPast = false }: ChoiceConditions,
): string | undefined {
  if (choice.kind === "go" || choice.kind === "travel" || choice.kind === "context") return undefined;
  if (choice.kind === "command" && Object.hasOwn(ELSEWHERE, choice.id)) return ELSEWHERE[choice.id];
  const isCommand = choice.kind === "command";
  const isChanging = isCommand
    ? commands.some((command) => command.id === choice.id && isMutatingCommand(command))
    : actions.some(({ id, isChange }) => id === choice.id && isChange);
  if (isPast && (isCommand || isChanging)) return "not in the past";
  if (isChanging && isReadOnly) return "read-only";
  if (isChanging && isAway) return "etcd unreachable";
  if (!isCommand && ON_ROWS.has(choice.id) && !hasSelection) return "nothing is selected";
  return undefined;
}

/** Whether a command changes something in etcd. All such commands have `--dry-run`. */
function isMutatingCommand({ flags = [] }: Command): boolean {
  return flags.some(({ name }) => name === "dry-run");
}
