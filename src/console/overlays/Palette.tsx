import { useMemo, useState } from "react";
import { COMMANDS, isRowCommandId } from "../../cli/commands/registry.ts";
import { type Command, isRowCommand } from "../../cli/frame/command.ts";
import { listKnownHosts } from "../../cli/views/hosts.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import { buildQueueId, type Snapshot } from "../../site/state/snapshot.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { ListedContext } from "../data/context-list.ts";
import { getTabLabel } from "../data/explorer-tree.ts";
import { isLive } from "../data/live-view.ts";
import type { KeyAction } from "../parts/keymap.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { actOnRow, chooseListedContext, goTo } from "../parts/navigation.ts";
import { buildRowAction, getCommandById, hasFlag } from "../parts/row-actions.ts";
import { TABS, type TabId } from "../state/console-state.ts";
import { clamp } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { createRow, padCells, type RowCell, type RowModel, truncateCells } from "../theme/Row.tsx";
import { openCommand, openDialog, openRowAction } from "./Dialog.tsx";
import { Doctor } from "./Doctor.tsx";
import { findBoundaryFrom, isEditKey } from "./field.ts";
import { moveInList, OverlayFrame, useField, useKeys, useOverlay } from "./OverlayFrame.tsx";
import { travelTo } from "./Prompt.tsx";

/** Keys that move like other keys. */
const LIST_KEYS: Readonly<Record<string, string>> = {
  "ctrl+n": "down",
  tab: "down",
  "ctrl+p": "up",
  "shift+tab": "up",
};

/** The palette: finds commands, actions, views and names by a few letters. */
export function Palette() {
  const { app, width, room, close } = useOverlay(90);
  const [all] = useState(() => listEntries(app));
  const field = useField();
  const [cursor, setCursor] = useState(0);
  const { recent } = app.state;
  const { entries, words } = useMemo(() => searchPalette(all, field.text, recent), [all, field.text, recent]);
  const height = clamp(room.height - 3, 1, 18);
  const top = Math.max(0, cursor - height + 1);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    if (entry.disabled !== undefined) return app.showToast(`${entry.label}: ${entry.disabled}`, "problem");
    close();
    if (entry.choice.kind !== "travel")
      app.update((state) => ({ ...state, recent: addRecentEntry(state.recent, entry.id) }));
    runChoice(app, entry.choice);
  };
  useKeys({ enter: () => choose(entries[cursor]) }, (chord, event) => {
    if (field.edit(event)) setCursor(0);
    else if (!isEditKey(chord)) setCursor(moveInList(cursor, entries.length, LIST_KEYS[chord] ?? chord));
  });
  const shown = entries.slice(top, top + height);
  const notes = [
    ...(shown.length === 0 ? ["nothing has this name"] : []),
    ...(entries.length > shown.length ? [`${entries.length} found`] : []),
  ];
  return (
    <OverlayFrame
      title="palette"
      rows={[
        { cells: field.buildCells(width) },
        ...buildEntryRows({ entries: shown, words }, cursor - top, width),
        ...notes.map((text) => createRow(text, "quiet")),
      ]}
      hints={[
        [">", "commands"],
        ["@", "names"],
        ["Enter", "choose"],
      ]}
      width={width}
      at="top"
      onPress={(row) => choose(shown[row - 1])}
    />
  );
}

function listEntries(app: ConsoleApp): PaletteEntry[] {
  return buildPaletteEntries({
    commands: COMMANDS,
    actions: app.actions,
    isReadOnly: app.isReadOnly,
    isAway: !isLive(app.liveView.connection),
    isPast: app.liveView.past !== undefined,
    hasSelection: app.getSubject() !== undefined,
    views: TABS.map((tab) => ({ tab, label: getTabLabel(tab) })),
    contexts: app.contexts.all,
    snapshot: app.liveView.snapshot,
    getKeyLabels: app.keymap.getKeyLabels,
  });
}

/** Runs a choice. A command that acts on rows is applied to the selected rows where possible. */
function runChoice(app: ConsoleApp, choice: PaletteChoice): void {
  if (choice.kind === "go") return goTo(app, choice.tab, choice.key);
  if (choice.kind === "on-row") return actOnRow(app, choice.tab, choice.key, choice.id);
  if (choice.kind === "context") return chooseListedContext(app, choice.name);
  if (choice.kind === "action") return app.act(choice.id);
  if (choice.kind === "travel") return travelTo(app, choice.time);
  const { id, args } = choice;
  if (id === "doctor") return void app.overlays.open(<Doctor />);
  if (args !== undefined)
    return openDialog(app, [{ command: getCommandById(id), args, target: args.join(" ") }]);
  const [first] = getChosenSubjects(app);
  if (isRowCommandId(id) && "command" in buildRowAction(id, first, app.liveView.snapshot))
    openRowAction(app, id);
  else openCommand(app, id);
}

/** Words that operators may type for an entry besides those in its title and description, by its id or kind. */
const SYNONYMS: Readonly<Record<string, string>> = {
  "action:create": "new add",
  "action:deadLetters": "schedule dead failed given up retry again bury",
  "action:filter": "search find grep",
  "action:help": "keyboard shortcuts",
  "action:notifyMe": "alert watch row",
  "action:output": "logs tail",
  "action:placeBack": "go previous",
  "action:placeForward": "go next",
  "action:quit": "exit close",
  "action:reread": "refresh reload",
  "action:theme": "colours colors dark light mode",
  "action:travel": "time travel go to a past time",
  "command:doctor": "upgrade version health status etcd members",
  "command:drain": "evacuate empty host maintenance",
  "command:drain all": "stop freeze everything maintenance rolling upgrade",
  "command:reset": "kill end run evict holder force unlock stuck release remove cancel waiter waiting",
  "command:resource set": "total limit raise lower",
  "command:schedule add": "new create cron",
  "command:schedule bury": "discard failed",
  "command:schedule pause": "disable",
  "command:schedule resume": "enable",
  "command:schedule trigger": "run start now again retry",
  "command:undrain": "lift drain end maintenance undo",
  "command:undrain all": "lift drain of everything end maintenance thaw",
  "view:audit": "handover shift who did",
  "view:groups": "members",
  "view:history": "handover shift failures",
  "view:members": "etcd cluster",
  "view:problems": "stuck failed errors",
  "view:sessions": "etcd leases",
  "view:users": "etcd roles permissions",
  context: "switch change cluster context",
};

/** The result of a search, and the words to highlight in it. */
interface SearchResult {
  /** All entries that match, best first. */
  readonly entries: readonly PaletteEntry[];
  /** The words of the query, in lower case. */
  readonly words: readonly string[];
}

/**
 * The choices to which a prefix limits a query: those with an id (commands and actions), or those with the key of a
 * row.
 */
const SCOPES: Readonly<Record<string, string>> = { ">": "id", "@": "key" };

/**
 * Finds the entries that match all words of a query, in any order. Sorts them by: whether they can be chosen, rank,
 * recent use, whether they are views, and whether they have a key. `>` finds only commands and actions, `@` only names.
 * @param recent  ids of recently used entries, newest first
 */
export function searchPalette(
  entries: readonly PaletteEntry[],
  query: string,
  recent: readonly string[] = [],
): SearchResult {
  const [, sign = "", text = ""] = /^\s*([>@]?)\s*(.*?)\s*$/s.exec(query.toLowerCase()) ?? [];
  const words = text.split(/\s+/).filter((word) => word !== "");
  const scope = SCOPES[sign];
  const found = entries.flatMap((entry) => {
    const rank = scope === undefined || scope in entry.choice ? rankEntry(entry, text, words) : undefined;
    if (rank === undefined) return [];
    const used = recent.indexOf(entry.id);
    const use = entry.kind === "view" ? 0 : entry.keys.length > 0 ? 1 : 2;
    const criteria = [entry.disabled ? 1 : 0, rank, used < 0 ? recent.length : used, text === "" ? 0 : use];
    return { entry, order: criteria.reduce((order, criterion) => order * 100 + criterion) };
  });
  found.sort((one, other) => one.order - other.order);
  const onNames = scope === undefined ? listActionsOnNames(entries, words) : [];
  return { entries: [...listTravels(query), ...found.map(({ entry }) => entry), ...onNames], words };
}

/** Maximum number of entries that do something with a name. */
const MOST_ON_NAMES = 50;

/** Lists the actions that the first words name, each on the names that the last word finds: `why backup`. The whole name comes first. */
function listActionsOnNames(entries: readonly PaletteEntry[], words: readonly string[]): PaletteEntry[] {
  const [name = "", ...others] = words.toReversed();
  if (others.length === 0) return [];
  const actions = entries.filter(
    ({ label, choice }) =>
      isOnSelection(choice) && others.every((word) => findWord(label.toLowerCase(), word) >= 0),
  );
  if (actions.length === 0) return [];
  const named = entries.filter(({ label, choice }) => "key" in choice && label.toLowerCase().includes(name));
  const isWhole = ({ label }: PaletteEntry) => label.toLowerCase() === name;
  named.sort((one, other) => Number(isWhole(other)) - Number(isWhole(one)));
  return named
    .slice(0, MOST_ON_NAMES)
    .flatMap((target) => actions.flatMap((action) => createEntryOnName(action, target) ?? []));
}

/** Whether a choice applies to the selected rows. */
function isOnSelection(choice: PaletteChoice): boolean {
  if (choice.kind === "action") return ON_ROWS.has(choice.id);
  return choice.kind === "command" && choice.args === undefined && isRowCommandId(choice.id);
}

function createEntryOnName(
  action: PaletteEntry,
  { id, label, detail, choice }: PaletteEntry,
): PaletteEntry | undefined {
  if (!("id" in action.choice) || choice.kind !== "go" || choice.key === undefined) return undefined;
  return {
    ...action,
    id: `${action.id} ${id}`,
    label: `${action.label} ${label}`,
    detail,
    disabled: action.disabled === NO_SELECTION ? undefined : action.disabled,
    choice: { kind: "on-row", id: action.choice.id, tab: choice.tab, key: choice.key },
  };
}

/**
 * Returns how well an entry matches: lower is better, undefined means not at all. 0: the title is the query. 1: the
 * title begins with the query. 2: each word begins a word of the title. 3: each word is in the title. 4: or begins a
 * synonym. 5: or begins a word of the description, which for a name is its kind.
 */
function rankEntry(entry: PaletteEntry, text: string, words: readonly string[]): number | undefined {
  const title = entry.label.toLowerCase();
  if (title === text) return 0;
  if (title.startsWith(text)) return 1;
  if (words.every((word) => findWord(title, word) >= 0)) return 2;
  const others = words.filter((word) => !title.includes(word));
  if (others.length === 0) return 3;
  const synonyms = SYNONYMS[entry.id] ?? SYNONYMS[entry.kind] ?? "";
  if (others.every((word) => findWord(synonyms, word) >= 0)) return 4;
  const known = `${synonyms} ${entry.detail.toLowerCase()}${"key" in entry.choice ? "s" : ""}`;
  return others.every((word) => findWord(known, word) >= 0) ? 5 : undefined;
}

/** Finds a word of a text that begins with a word of the query. @returns its index, or -1 */
function findWord(text: string, word: string): number {
  let at = text.indexOf(word);
  while (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) at = text.indexOf(word, at + 1);
  return at;
}

/** Lists the entry that travels to a time, if the text asks for one: `at 03:00`. */
function listTravels(query: string): PaletteEntry[] {
  const [, time] = /^\s*at\s+(\S.*?)\s*$/i.exec(query) ?? [];
  if (time === undefined) return [];
  const texts = { label: `at ${time}`, detail: "show everything as it was then", keys: [] };
  return [{ id: "travel", kind: "action", ...texts, choice: { kind: "travel", time } }];
}

/** Maximum number of recent entries kept. */
const MAX_RECENT_ENTRIES = 20;

/** Adds an id to the recently used ones, newest first, without duplicates. */
export function addRecentEntry(recent: readonly string[], id: string): readonly string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, MAX_RECENT_ENTRIES);
}

/** Splits a text into parts that match words of a query and parts that do not, between graphemes. */
export function splitByWords(text: string, words: readonly string[]): { text: string; isMatch: boolean }[] {
  const lower = text.toLowerCase();
  const ranges = words
    .map((word) => ({ word, at: Math.max(findWord(lower, word), lower.indexOf(word)) }))
    .filter(({ at }) => at >= 0)
    .map(({ word, at }) => [findBoundaryFrom(text, at), findBoundaryFrom(text, at + word.length)] as const);
  const edges = [...new Set([0, ...ranges.flat(), text.length])].sort((a, b) => a - b);
  return edges.slice(1).map((to, index) => {
    const from = edges[index] ?? 0;
    return { text: text.slice(from, to), isMatch: ranges.some(([start, end]) => start <= from && to <= end) };
  });
}

/**
 * Builds the rows of entries: label, then the detail or the reason why it cannot be chosen, and keys at the right edge.
 * @param selected  index of the entry under the cursor
 * @param width     columns of every row
 */
export function buildEntryRows(
  { entries, words }: SearchResult,
  selected: number,
  width: number,
): RowModel[] {
  const widest = Math.max(1, ...entries.map(({ label }) => computeDisplayWidth(label)));
  const room = Math.min(widest, Math.floor(width / 2)); // details need room too
  return entries.map(({ label, detail, disabled, keys }, at) => {
    const key = keys.length === 0 ? "" : `  ${keys.slice(0, 2).join(" ")}`;
    const left = Math.max(0, width - room - computeDisplayWidth(key));
    const others = words.filter((word) => !label.toLowerCase().includes(word));
    const reason = disabled === undefined ? undefined : `(${disabled})`;
    const cells = [
      ...highlightWords(reason ? "disabled" : "plain", label, words, room),
      ...highlightWords(reason ? "disabled" : "quiet", `  ${reason ?? detail}`, others, left),
      { text: key, role: "key" as const },
    ];
    return { cells: truncateCells(cells, width), selection: at === selected ? "focused" : undefined };
  });
}

/** Builds the cells of a text, cut or padded to a number of columns. */
function highlightWords(
  role: StyleRole,
  text: string,
  words: readonly string[],
  width: number,
): readonly RowCell[] {
  const parts = splitByWords(cleanToWidth(text, width), words);
  const cells = parts.map(
    ({ text: own, isMatch }): RowCell =>
      isMatch ? { text: own, role: "match", ground: role } : { text: own, role },
  );
  return padCells(cells, width);
}

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
  readonly kind: "view" | "command" | "action" | "context" | NameKind;
  readonly label: string;
  /** What it does; for a name, its kind. */
  readonly detail: string;
  /** As displayed: `Ctrl+P`. */
  readonly keys: readonly string[];
  /** Why it cannot be chosen now; undefined if it can. */
  readonly disabled?: string | undefined;
  readonly choice: PaletteChoice;
}

type NameKind = "lock" | "resource" | "host" | "group" | "schedule";

/** The conditions that decide which entries can be chosen. */
export interface ChoiceConditions {
  commands: readonly Command[];
  /** The actions that keys are bound to: commands that act on rows, and the console's own actions. */
  actions: readonly Pick<KeyAction, "id" | "brief" | "isChange">[];
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

/** Builds all entries: views, commands and console actions, then names by kind and in alphabetical order. */
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
      .filter(({ id }) => !DONE_BY_ACTIONS.has(id))
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

/** Commands for which the console has an action that shows more. */
const DONE_BY_ACTIONS: ReadonlySet<string> = new Set("compare,logs,schedule dead,timeline,why".split(","));

/** Actions for keys only. They are not listed in the palette. */
const KEY_ONLY_ACTIONS: ReadonlySet<string> = new Set(
  "palette back up down left right top bottom pageUp pageDown open mark range".split(" "),
);

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
  const texts = id.startsWith("user:")
    ? { label: clean(detail), detail: "your own command" }
    : { label: toSpokenName(name), detail };
  return { id: `${kind}:${name}`, kind, ...texts, keys, disabled, choice };
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
    lock: new Set(snapshot.histories.keys()),
    resource: new Set(snapshot.resources.keys()),
    host: listKnownHosts(snapshot),
    group: new Set(snapshot.groups.keys()),
    schedule: new Set(snapshot.schedules.keys()),
  };
  for (const { kind, name } of snapshot.queues.values()) names[kind].add(name);
  return (Object.keys(names) as NameKind[]).flatMap((kind) =>
    [...names[kind]].sort().map((name) => createNameEntry(kind, name)),
  );
}

function createNameEntry(kind: NameKind, name: string): PaletteEntry {
  const key = kind === "lock" || kind === "resource" ? buildQueueId(kind, name) : name;
  const choice = { kind: "go", tab: `${kind}s`, key } as const;
  return { id: `${kind}:${name}`, kind, label: clean(name), detail: kind, keys: [], choice };
}

/** Commands that do not work in the console, and what to do instead. */
const SHELL_ONLY_COMMANDS: Readonly<Record<string, string>> = {
  run: "start it in another terminal",
  console: "already open",
  edit: "opens an editor: start it in another terminal",
  completion: "only useful in a shell",
  exporter: "a service: start it in a terminal, or with systemd",
  worker: "a service: start it in a terminal, or with systemd",
  agent: "a service: start it in a terminal, or with systemd",
  init: "etcd is set up already: see doctor",
  "setup etcd": "etcd is set up already: see doctor",
  ls: "see the tabs",
  overview: "see the tabs",
};

/** Actions that apply to the selected rows. */
const ON_ROWS: ReadonlySet<string> = new Set(
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

const NO_SELECTION = "nothing is selected";
