import type { Command } from "../../commands/spec.ts";
import type { Action } from "../keys/actions.ts";
import type { Choice } from "./entry.ts";

/** Commands that make no sense in here, and what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  run: "needs a terminal of its own",
  console: "you are in it",
  edit: "needs a terminal of its own: it opens your editor",
  completion: "it is for your shell",
  exporter: "it is a service: start it in a terminal, or by systemd",
  worker: "it is a service: start it in a terminal, or by systemd",
  init: "etcd is in use here already: see doctor",
  ls: "the tabs show it, live",
  "group list": "the tab Groups shows it, live",
  "schedule list": "the tab Schedules shows it, live",
  "resource list": "the tab Resources shows it, live",
};

/** What keys are for: nobody looks for it in a list. */
const MOVES: ReadonlySet<string> = new Set(
  "palette back up down left right top bottom pageUp pageDown open mark range".split(" "),
);
/** Actions that are done to what is selected. */
const ON_ROWS: ReadonlySet<string> = new Set(["copy", "copyJson", "copyCommand", "why", "edit", "delete"]);

/** What can be done at all. */
interface Known {
  commands: readonly Command[];
  actions: readonly Pick<Action, "id" | "isChange">[];
}

/** How things stand, as far as it matters to what can be chosen. */
export interface Standing {
  isReadOnly: boolean;
  /** The picture is not live. */
  isAway: boolean;
  hasSelection: boolean;
}

/** Whether an action is a move of the cursor, or otherwise nothing to be chosen from a list. */
export function isMove(id: string): boolean {
  return MOVES.has(id);
}

/** Why something cannot be chosen now, in a few words; undefined where it can. */
export function obstacleOf(
  choice: Choice,
  { commands, actions }: Known,
  { isReadOnly, isAway, hasSelection }: Standing,
): string | undefined {
  if (choice.kind === "go") return undefined;
  if (choice.kind === "command" && Object.hasOwn(ELSEWHERE, choice.id)) return ELSEWHERE[choice.id];
  const isCommand = choice.kind === "command";
  const isChanging = isCommand
    ? commands.some((command) => command.id === choice.id && changes(command))
    : actions.some(({ id, isChange }) => id === choice.id && isChange);
  if (isChanging && isReadOnly) return "read-only";
  if (isChanging && isAway) return "etcd is away";
  if (!isCommand && ON_ROWS.has(choice.id) && !hasSelection) return "nothing is selected";
  return undefined;
}

/** Whether a command changes something in etcd: all that do can be tried first. */
export function changes({ flags = [] }: Command): boolean {
  return flags.some(({ name }) => name === "dry-run");
}
