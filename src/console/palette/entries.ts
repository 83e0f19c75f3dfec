import { clean } from "../../base/text.ts";
import type { Command } from "../../commands/spec.ts";
import { type Picture, queueId } from "../../model/picture.ts";
import type { Action } from "../keys/actions.ts";
import type { TabId } from "../state/state.ts";
import type { Choice, Entry, EntryKind } from "./entry.ts";
import { isMove } from "./obstacle.ts";

/** What a palette is made of. */
export interface PaletteWish {
  commands: readonly Command[];
  /** What keys are bound to: the commands that act on rows, and what the console does by itself. */
  actions: readonly Pick<Action, "id" | "brief">[];
  views: readonly { tab: TabId; label: string; brief?: string }[];
  picture: Pick<Picture, "queues" | "histories" | "resources" | "hosts" | "groups" | "schedules">;
  /** Keys of an action or a command, as they are shown. */
  keysOf(id: string): readonly string[];
  /** Why something cannot be chosen now; undefined where it can. */
  obstacleOf(choice: Choice): string | undefined;
}

/** Everything that can be chosen: commands, what the console does, views, then names by kind and alphabet. */
export function entriesOf(wish: PaletteWish): Entry[] {
  const { commands, actions, views, picture } = wish;
  const bound = new Set(commands.filter(hasKey).map(({ id }) => id));
  const doing = actions.filter(({ id }) => !bound.has(id) && !isMove(id));
  return [
    ...commands.map((command) => commandEntry(wish, command)),
    ...doing.map(({ id, brief }) => toDo(wish, { kind: "action", id }, spoken(id), brief)),
    ...views.map((view) => viewEntry(view)),
    ...namesIn(picture),
  ];
}

/** Others may have the name of an action: `edit` edits all, the key `edit` what is selected. */
function hasKey({ key }: Command): boolean {
  return key !== undefined;
}

function commandEntry(wish: PaletteWish, command: Command): Entry {
  const { id, brief } = command;
  const entry = toDo(wish, { kind: "command", id }, id, brief);
  return hasKey(command) ? entry : { ...entry, keys: [] };
}

function toDo(
  { keysOf, obstacleOf }: PaletteWish,
  choice: Extract<Choice, { id: string }>,
  label: string,
  detail: string,
): Entry {
  const { kind, id } = choice;
  const disabled = obstacleOf(choice);
  const entry = { id: `${kind}:${id}`, kind, label, detail, keys: keysOf(id), choice };
  return disabled === undefined ? entry : { ...entry, disabled };
}

/** `copyJson` as people say it: `copy json`. */
function spoken(id: string): string {
  return id.replace(/(?<=[a-z])(?=[A-Z\d])/g, " ").toLowerCase();
}

function viewEntry({ tab, label, brief }: PaletteWish["views"][number]): Entry {
  return {
    ...{ id: `view:${tab}`, kind: "view", label, detail: brief ?? "view", keys: [] },
    choice: { kind: "go", tab },
  };
}

function namesIn({
  queues,
  histories,
  resources,
  hosts,
  groups,
  schedules,
}: PaletteWish["picture"]): Entry[] {
  const [locks, counted] = [new Set(histories.keys()), new Set(resources.keys())];
  for (const { kind, name } of queues.values()) (kind === "lock" ? locks : counted).add(name);
  return [
    ...named("lock", "locks", locks, (name) => queueId("lock", name)),
    ...named("resource", "resources", counted, (name) => queueId("resource", name)),
    ...named("host", "hosts", hosts.keys(), (name) => name),
    ...named("group", "groups", groups.keys(), (name) => name),
    ...named("schedule", "schedules", schedules.keys(), (name) => name),
  ];
}

function named(
  kind: EntryKind,
  tab: TabId,
  names: Iterable<string>,
  keyOf: (name: string) => string,
): Entry[] {
  return [...names].sort().map((name) => ({
    ...{ id: `${kind}:${name}`, kind, label: clean(name), detail: kind, keys: [] },
    choice: { kind: "go", tab, key: keyOf(name) },
  }));
}
