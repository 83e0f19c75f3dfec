import type { Command } from "../../commands/spec.ts";
import type { KeyAction } from "../parts/key-actions.ts";
import type { PaletteChoice } from "./entry.ts";

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

/** Whether an action of the console shows what a command prints. */
export function isShownByAction(id: string): boolean {
  return SHOWN_BY_ACTIONS.has(id);
}

/** Whether an action moves the cursor, or is otherwise not worth listing in the palette. */
export function isMove(id: string): boolean {
  return MOVES.has(id);
}

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
