import { COMMANDS } from "../../cli/commands/registry.ts";
import type { Command } from "../../cli/frame/command.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { goTo } from "../parts/navigation.ts";
import { getCommandById, hasFlag } from "../parts/row-actions.ts";
import { TABS } from "../state/console-state.ts";
import { openRemedy } from "./Dialog.tsx";
import { parseWordList } from "./dialog-form.ts";
import { openOutput } from "./output.tsx";

/** Maximum number of schedules that are compared. With more, no key would be handled for too long. */
const MOST_SCHEDULES = 2_000;

/** Shows which schedules compete with the chosen ones, or with each other. Enter opens the form of a suggestion. */
export function openCollisions(app: ConsoleApp): void {
  if (app.liveView.snapshot.schedules.size > MOST_SCHEDULES)
    return app.showToast(`with over ${MOST_SCHEDULES} schedules: signalbox schedule lint --collisions`);
  const chosen = getChosenSubjects(app).flatMap(({ kind, name }) => (kind === "schedule" ? [name] : []));
  const findChoice = (text: string) => {
    const line = text.replace(/^ +(or: )?/, "");
    return parseRemedyLine(line) && (() => applyRemedy(app, line));
  };
  const words = ["--collisions", ...chosen];
  openOutput(app, getCommandById("schedule lint"), words, "collisions in the next 24 hours", findChoice);
}

/**
 * Opens the dialog of the command that a remedy names, runs one that only reads, or copies the text.
 * @param onDone  called when a confirmed command has ended
 */
export function applyRemedy(app: ConsoleApp, remedy: string, onDone?: () => void): void {
  const line = parseRemedyLine(remedy);
  if (line === undefined) return app.copy(remedy, "the remedy");
  const { command, args, flags, words } = line;
  const tab = TABS.find((id) => command.id === "ls" && id === args[0]);
  if (tab !== undefined) {
    app.overlays.closeAll();
    goTo(app, tab, undefined);
  } else if (hasFlag(command, "dry-run")) openRemedy(app, { command: command.id, args, flags }, onDone);
  else openOutput(app, command, words, [command.id, ...words].join(" "));
}

/** A command line of signalbox that a remedy names, with its known arguments. */
interface RemedyLine {
  command: Command;
  args: readonly string[];
  flags: Readonly<Record<string, string | true>>;
  /** The words after the command's name. */
  words: readonly string[];
}

/** A line at the beginning of a remedy or at its end, up to the next sign that ends a clause. */
const COMMAND_LINE = /(?:^|: )signalbox ((?:'[^']*'|[^;,'])+)/;
/** A placeholder that the user fills in: `HOST`, `TOTAL`, `HOST…`. */
const PLACEHOLDER = /^(?:[A-Z]{3,}…?|…)$/;

/** Finds the command that a remedy names. Returns undefined for advice, and for lines of other programs. */
export function parseRemedyLine(remedy: string): RemedyLine | undefined {
  const given = parseWordList(COMMAND_LINE.exec(remedy)?.[1] ?? "").filter((word) => !PLACEHOLDER.test(word));
  const command =
    COMMANDS.find(({ id }) => id === given.slice(0, 2).join(" ")) ??
    COMMANDS.find(({ id }) => id === given[0]);
  if (command === undefined) return undefined;
  const words = given.slice(command.id.split(" ").length);
  const args: string[] = [];
  const flags: Record<string, string | true> = {};
  const left = words.values();
  for (const word of left) {
    const flag = command.flags?.find(({ name }) => word === `--${name}`);
    if (flag !== undefined) flags[flag.name] = flag.value === undefined || (left.next().value ?? "");
    else if (word.startsWith("--")) return undefined;
    else args.push(word);
  }
  const { args: known = [] } = command;
  const hasRoom = args.length <= known.length || known.at(-1)?.isRest === true;
  return hasRoom ? { command, args, flags, words } : undefined;
}
