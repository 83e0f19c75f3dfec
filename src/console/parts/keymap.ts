import type { RowCommandId } from "../../cli/commands/registry.ts";
import { type Command, isRowCommand } from "../../cli/frame/command.ts";
import { formatChord, parseChord } from "../../core/base/chord.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";
import type { Subject } from "../../site/state/subject.ts";
import type { TabId } from "../state/console-state.ts";

/** Maps keys to actions. */
export interface Keymap {
  /** @param context  `list` if the cursor is in a list; global keys then work too */
  findAction(chord: string, context: KeyAction["context"]): string | undefined;
  /** The keys of an action, as displayed; empty if it has none. */
  getKeyLabels(id: string): readonly string[];
}

/** Keys by action, as in the configuration file: one, several, or none. */
export type KeyBindings = Readonly<Record<string, string | readonly string[]>>;

/** The chord that always quits, so that the user can always leave. */
const QUIT_CHORD = "ctrl+c";

/** The parsed configuration: its findings and the actions it binds. */
interface ParsedBindings {
  findings: string[];
  /** Configured chords by action. */
  wanted: ReadonlyMap<string, readonly string[]>;
}

/**
 * Builds the keymap from the default keys and the user's bindings.
 * @returns the keymap, and one sentence for each invalid or conflicting binding; the other bindings still apply
 */
export function createKeymap(
  actions: readonly KeyAction[],
  bindings: KeyBindings,
): { keymap: Keymap; findings: string[] } {
  const parsed = parseBindings(actions, bindings);
  const bound = new Map<string, string>();
  const isWanted = ({ id }: KeyAction) => parsed.wanted.has(id);
  for (const action of actions.filter(isWanted)) bind(bound, action, parsed);
  for (const action of actions.filter((one) => !isWanted(one))) bind(bound, action, parsed);
  return { keymap: buildKeymap(actions, bound), findings: parsed.findings };
}

function parseBindings(actions: readonly KeyAction[], bindings: KeyBindings): ParsedBindings {
  const findings: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(bindings)) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) {
      findings.push(formatUnknownAction(id, actions));
      continue;
    }
    const texts = typeof keys === "string" ? [keys] : keys;
    const chords = texts.flatMap((text) => parseActionChord(action, text, findings));
    // An empty list removes all keys of the action. A list with only invalid keys must not do so by mistake.
    if (chords.length > 0 || texts.length === 0) wanted.set(id, chords);
  }
  return { findings, wanted };
}

function buildKeymap(actions: readonly KeyAction[], bound: ReadonlyMap<string, string>): Keymap {
  const contexts = new Map(actions.map(({ id, context }) => [id, context]));
  const shown = Map.groupBy([...bound], ([, id]) => id);
  return {
    findAction(chord, context) {
      const id = chord === QUIT_CHORD ? "quit" : bound.get(chord);
      return id !== undefined && context === "global" && contexts.get(id) === "list" ? undefined : id;
    },
    getKeyLabels(id) {
      const chords = (shown.get(id) ?? []).map(([chord]) => chord);
      return (id === "quit" && chords.length === 0 ? [QUIT_CHORD] : chords).map(formatChord);
    },
  };
}

function parseActionChord(action: KeyAction, text: string, findings: string[]): string[] {
  const parsed = parseChord(text);
  const fault = "fault" in parsed ? parsed.fault : findRefusal(action, parsed.value);
  if (fault !== undefined) findings.push(`keyBindings: ${action.id}: ${fault}`);
  return "value" in parsed && fault === undefined ? [parsed.value] : [];
}

function findRefusal({ isChange }: KeyAction, chord: string): string | undefined {
  if (chord === QUIT_CHORD) return "Ctrl+C always quits";
  if (!isChange || !/^ctrl\+/.test(chord)) return undefined;
  return `${formatChord(chord)} is refused: actions that change something cannot be on a key with Ctrl, since these are easily hit by mistake`;
}

/** Binds the keys of an action. The user's bindings come first; an action that loses a key is reported. */
function bind(
  bound: Map<string, string>,
  { id, keys }: KeyAction,
  { findings, wanted }: ParsedBindings,
): void {
  for (const chord of wanted.get(id) ?? keys) {
    const other = bound.get(chord);
    if (other === undefined) bound.set(chord, id);
    else if (other !== id) {
      const whose = wanted.has(id)
        ? `${other} and ${id} are both bound to this key; it runs ${other}`
        : `this key runs ${other} now, no longer ${id}`;
      findings.push(`keyBindings: ${formatChord(chord)}: ${whose}`);
    }
  }
}

function formatUnknownAction(id: string, actions: readonly KeyAction[]): string {
  const ids = actions.map((action) => action.id);
  const meant = findNearest(id, ids);
  const remedy = meant === undefined ? `use one of ${ids.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `keyBindings: unknown action ${quoteText(id)}; ${remedy}`;
}

/** An action that can be bound to keys. */
export interface KeyAction {
  id: string;
  brief: string;
  /** Its default keys, as chords. */
  keys: readonly string[];
  /** `list` actions also need a cursor in a list. A key can be bound in only one of the contexts. */
  context: "global" | "list";
  /**
   * The action changes something in etcd. It cannot be bound to a key with Ctrl, because those are easily pressed by
   * mistake.
   */
  isChange?: true;
  /** The kinds of rows that it applies to. The menu of such a row lists it. */
  rows?: readonly Subject["kind"][] | "any";
}

const CONFIGURED_KINDS = ["group", "resource", "schedule"] as const;

const WATCHED_KINDS = ["lock", "resource", "host", "group", "schedule", "run", "drain"] as const;

/** An action of the console itself. */
type OwnAction = Omit<KeyAction, "id" | "context">;

/** The keys that show a tab; none: only in the palette and with `keyBindings`. */
export const TAB_KEYS = {
  overview: "f2",
  locks: "f3",
  resources: "f4",
  queues: "f5",
  hosts: "f6",
  schedules: "f7",
  history: "f8",
  problems: "f9",
  drains: "f10",
  macros: "f12",
  groups: undefined,
  audit: undefined,
} as const satisfies Partial<Record<TabId, string | undefined>>;

export type TabActionId = keyof typeof TAB_KEYS;

export function listTabActions(): TabActionId[] {
  return Object.keys(TAB_KEYS) as TabActionId[];
}

/** The console's own actions that work everywhere, in the order of the help. */
const GLOBAL_ACTIONS = {
  palette: { brief: "find a command, a lock, a host…", keys: [":", "f1", "ctrl+p"] },
  filter: { brief: "show only rows with some words", keys: ["/"] },
  help: { brief: "all keys", keys: ["?"] },
  nextTab: { brief: "next tab", keys: ["]"] },
  previousTab: { brief: "previous tab", keys: ["["] },
  split: { brief: "a second table beside the first, with its own tab; again: one table", keys: ["\\"] },
  nextPane: { brief: "next pane", keys: ["tab"] },
  previousPane: { brief: "previous pane", keys: ["shift+tab"] },
  pane1: { brief: "explorer", keys: ["1"] },
  pane2: { brief: "table; again: the other one", keys: ["2"] },
  pane3: { brief: "detail", keys: ["3"] },
  pane4: { brief: "panel", keys: ["4"] },
  pane5: { brief: "jobs", keys: ["5"] },
  explorer: { brief: "show or hide the explorer", keys: ["b"] },
  panel: { brief: "show or hide the panel", keys: ["J"] },
  zoom: { brief: "give the pane the whole screen, and back", keys: ["z"] },
  larger: { brief: "make the pane larger", keys: ["="] },
  smaller: { brief: "make the pane smaller", keys: ["-"] },
  resetSizes: { brief: "return all panes to their usual sizes", keys: [] },
  reread: { brief: "read everything again", keys: ["R"] },
  theme: { brief: "next theme", keys: ["T"] },
  travel: { brief: "show a past time, or compare two; in the past: return to live", keys: ["a"] },
  olderChange: { brief: "in the past: before the last change", keys: ["{"] },
  newerChange: { brief: "in the past: after the next change", keys: ["}"] },
  redraw: { brief: "repaint the screen", keys: ["ctrl+l"] },
  suspend: { brief: "suspend; fg in the shell returns", keys: ["ctrl+z"] },
  etcd: { brief: "etcd itself: members, alarms, quota, sessions (leases), users", keys: ["M"] },
  browseKeys: { brief: "browse all keys in etcd", keys: ["B"] },
  collisions: { brief: "schedules that compete, and other minutes", keys: [], rows: ["schedule"] },
  deadLetters: { brief: "dead letters: run again, or bury", keys: ["d"], rows: ["schedule"] },
  back: { brief: "back: out of a pane, a range, marks, a filter", keys: ["escape"] },
  placeBack: { brief: "back to the place before the last jump", keys: ["<", "alt+left"] },
  placeForward: { brief: "forward again", keys: [">", "alt+right"] },
  quit: { brief: "quit", keys: ["q"] },
} as const satisfies Record<string, OwnAction>;

/** The console's own actions that need a cursor in a list. */
const IN_LISTS = {
  up: { brief: "up", keys: ["up", "k"] },
  down: { brief: "down", keys: ["down", "j"] },
  top: { brief: "first row", keys: ["g", "home"] },
  bottom: { brief: "last row", keys: ["G", "end"] },
  pageUp: { brief: "a page up", keys: ["pageup", "ctrl+b"] },
  pageDown: { brief: "a page down", keys: ["pagedown", "ctrl+f"] },
  left: { brief: "fold, or the cell or pane to the left", keys: ["left", "h"] },
  right: { brief: "unfold, or the cell or pane to the right", keys: ["right"] },
  open: { brief: "open", keys: ["enter"], rows: "any" },
  menu: { brief: "menu of the row: all that applies to it", keys: ["."] },
  mark: { brief: "mark the row, to act on several", keys: ["space"], rows: "any" },
  range: { brief: "begin a range of marks; again: end it", keys: ["v"] },
  unmark: { brief: "clear all marks", keys: ["u"] },
  sort: { brief: "sort by the next column", keys: ["s"] },
  reverse: { brief: "reverse the sort order", keys: ["S"] },
  columns: { brief: "choose the columns of the table, and their order", keys: ["o"] },
  views: { brief: "saved views: open one, or save what is shown", keys: ["F"] },
  copy: { brief: "copy the name", keys: ["y"], rows: "any" },
  copyJson: { brief: "copy the row as JSON", keys: ["Y"], rows: "any" },
  copyCommand: { brief: "copy the command line for this view", keys: ["c"], rows: "any" },
  copyRun: { brief: "copy the command line that runs the lock's job again", keys: ["r"], rows: ["lock"] },
  pager: { brief: "show this in the pager", keys: ["p"], rows: "any" },
  editor: { brief: "open this in the editor", keys: ["E"], rows: "any" },
  raw: { brief: "the keys in etcd, and their earlier values", keys: ["V"], rows: "any" },
  why: { brief: "why does the run wait?", keys: ["w"], rows: ["lock", "resource", "run", "schedule"] },
  whyDidItNotRun: {
    brief: "why a schedule or lock did not run at a time",
    keys: [],
    rows: ["lock", "schedule"],
  },
  timeline: {
    brief: "who held it when, who waited, when it was drained",
    keys: ["t"],
    rows: ["lock", "resource", "host", "schedule"],
  },
  whatIf: {
    brief: "what a drain, a reset or a new total would do",
    keys: ["i"],
    rows: ["lock", "resource", "host", "group"],
  },
  notifyMe: { brief: "tell me when the row changes; again: no longer", keys: ["A"], rows: WATCHED_KINDS },
  output: { brief: "what the run writes, live", keys: ["l"], rows: ["lock", "schedule", "run"] },
  edit: {
    brief: "edit the group, resource or schedule",
    keys: ["e"],
    isChange: true,
    rows: CONFIGURED_KINDS,
  },
  create: { brief: "create a group, resource, drain or schedule", keys: ["n"], isChange: true },
  delete: {
    brief: "delete the group, resource or schedule",
    keys: ["delete"],
    isChange: true,
    rows: CONFIGURED_KINDS,
  },
} as const satisfies Record<string, OwnAction>;

/** The id of an action: each has a handler. */
export type KeyActionId = keyof typeof GLOBAL_ACTIONS | TabActionId | keyof typeof IN_LISTS | RowCommandId;

/** Lists all actions that can be bound to keys: the console's own, and the commands that declare a key. */
export function listKeyActions(commands: readonly Command[]): KeyAction[] {
  const own = commands.filter(isRowCommand).map(
    ({ id, brief, rows: { key, kinds } }): KeyAction => ({
      id,
      brief,
      keys: [key],
      rows: kinds,
      context: "list",
      isChange: true,
    }),
  );
  const listOwn = (context: KeyAction["context"], actions: Readonly<Record<string, OwnAction>>) =>
    Object.entries(actions).map(([id, action]): KeyAction => ({ ...action, id, context }));
  const tabs = listTabActions().map((id): KeyAction => {
    return { id, brief: id, keys: [TAB_KEYS[id] ?? []].flat(), context: "global" };
  });
  return [...listOwn("global", GLOBAL_ACTIONS), ...tabs, ...listOwn("list", IN_LISTS), ...own];
}
