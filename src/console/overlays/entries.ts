import { clean } from "../../base/text.ts";
import { type Command, isRowCommand } from "../../commands/spec.ts";
import { buildQueueId, type Snapshot } from "../../model/snapshot/snapshot.ts";
import type { ListedContext } from "../data/context-list.ts";
import type { KeyAction } from "../parts/key-actions.ts";
import type { TabId } from "../state/console-state.ts";
import { isMove, isShownByAction } from "./choice-obstacle.ts";
import type { EntryKind, PaletteChoice, PaletteEntry } from "./entry.ts";

/** What the palette is built from. */
export interface PaletteOptions {
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
  const doing = actions.filter(({ id }) => !bound.has(id) && !isMove(id));
  return [
    ...views.map((view) => createViewEntry(view)),
    ...commands
      .filter(({ id }) => !isShownByAction(id))
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
