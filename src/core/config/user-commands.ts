import { parseChord } from "../base/chord.ts";
import { isJsonObject, parseJson } from "../base/parse-json.ts";
import { listUsedVariables } from "../base/shell.ts";
import {
  clean,
  findNameFault,
  type ParseResult,
  quoteText,
  quoteValue,
  suggestNearest,
} from "../base/text.ts";
import { buildValueFault, type SettingKind } from "./setting-kinds.ts";

/** The kinds of rows that a user command can apply to. */
const ROW_KINDS = ["lock", "resource", "host", "group", "schedule", "run", "drain"] as const;

/** The variables that a user command gets. */
export const COMMAND_VARIABLES = ["NAME", "KIND", "HOST", "RUN", "PREFIX", "CONTEXT"] as const;

/** A command of the user's own in the console, for the rows of some kinds. */
interface UserCommand {
  /** Unique. */
  readonly title: string;
  readonly rows: readonly (typeof ROW_KINDS)[number][] | "any";
  /** A text for `sh -c`. It gets the values of the row as variables, never as a part of the text. */
  readonly command: string;
  /** A chord as `parseChord` returns it, which no other user command has. */
  readonly key?: string;
  /** `job`: in the panel of jobs. `foreground`: on the terminal, as an editor. */
  readonly in: (typeof COMMAND_WAYS)[number];
  /** The console asks before it runs the command. */
  readonly confirm: boolean;
}

const COMMAND_WAYS = ["job", "foreground"] as const;
const PROPERTIES = ["title", "rows", "command", "key", "in", "confirm"];
const EXAMPLE = '[{"title": "log in", "rows": ["host"], "command": "ssh \\"$HOST\\"", "in": "foreground"}]';

const MOST_COMMANDS = 100;
const LONGEST_TITLE = 40;
const LONGEST_COMMAND = 4_000;

/** The user's own commands: a JSON list of objects. */
export const userCommands: SettingKind<readonly UserCommand[]> = {
  name: '[{"title": TEXT, …}]',
  parse(given) {
    const list = typeof given === "string" ? parseJson(given) : given;
    if (!Array.isArray(list)) return buildValueFault(given, `a list of commands such as ${EXAMPLE}`);
    if (list.length > MOST_COMMANDS)
      return { fault: `there are ${list.length} commands; at most ${MOST_COMMANDS} are allowed` };
    const commands: UserCommand[] = [];
    for (const [index, one] of list.entries()) {
      const parsed = parseUserCommand(one, commands);
      if ("fault" in parsed) return { fault: `${formatPlace(one, index)}: ${parsed.fault}` };
      commands.push(parsed.value);
    }
    return { value: commands };
  },
  show: (value) => (value.length === 0 ? "-" : JSON.stringify(value)),
};

/** Formats which command is wrong: by its title, or by its number. */
function formatPlace(given: unknown, index: number): string {
  const title = isJsonObject(given) ? given.title : undefined;
  return typeof title === "string" && title !== "" ? quoteText(title) : `command ${index + 1}`;
}

/** @param earlier  the commands before it in the list */
function parseUserCommand(given: unknown, earlier: readonly UserCommand[]): ParseResult<UserCommand> {
  if (!isJsonObject(given)) return buildValueFault(given, "an object with title, rows and command");
  const { title, rows, command, key, in: way = "job", confirm = false } = given;
  const chord =
    key === undefined
      ? undefined
      : typeof key === "string"
        ? parseChord(key)
        : buildValueFault(key, 'a key such as "F5"');
  const fault =
    findPropertyFault(given) ??
    findTitleFault(title, earlier) ??
    findRowsFault(rows) ??
    findTextFault(command) ??
    (chord && "fault" in chord ? `key: ${chord.fault}` : findKeyFault(chord?.value, earlier)) ??
    findChoiceFault("in", way, COMMAND_WAYS) ??
    findChoiceFault("confirm", confirm, [true, false]);
  if (fault !== undefined) return { fault };
  // Checked above.
  const checked = { title, rows, command, in: way, confirm } as Omit<UserCommand, "key">;
  return { value: chord && "value" in chord ? { ...checked, key: chord.value } : checked };
}

function findPropertyFault(given: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(given).find((name) => !PROPERTIES.includes(name));
  return unknown === undefined ? undefined : findChoiceFault("property", unknown, PROPERTIES);
}

function findTitleFault(title: unknown, earlier: readonly UserCommand[]): string | undefined {
  if (typeof title !== "string")
    return `title: ${quoteValue(title)} is not a text of the menu, such as "log in"`;
  const fault = findNameFault(title);
  if (fault !== undefined) return `title: ${fault}`;
  if (title.length > LONGEST_TITLE)
    return `title: it has ${title.length} characters; at most ${LONGEST_TITLE} are allowed`;
  return earlier.some((one) => one.title === title)
    ? "title: an earlier command has it; write another one"
    : undefined;
}

function findRowsFault(rows: unknown): string | undefined {
  if (rows === "any") return undefined;
  if (!Array.isArray(rows) || rows.length === 0)
    return `rows: ${quoteValue(rows)} is not a list of kinds such as ["lock", "run"]; for rows of all kinds, write "any"`;
  return rows.map((kind) => findChoiceFault("rows", kind, ROW_KINDS)).find(Boolean);
}

function findChoiceFault(property: string, given: unknown, choices: readonly unknown[]): string | undefined {
  if (choices.includes(given)) return undefined;
  const meant = typeof given === "string" ? suggestNearest(given, choices.map(String)) : "";
  return `${property}: ${quoteValue(given)} is not one of ${choices.join(", ")}${meant}`;
}

function findTextFault(command: unknown): string | undefined {
  if (typeof command !== "string" || command.trim() === "")
    return `command: ${quoteValue(command)} is not a line for the shell, such as "ssh \\"$HOST\\""`;
  if (command.includes("\0")) return "command: it contains a NUL character";
  if (command.length > LONGEST_COMMAND)
    return `command: it has ${command.length} characters; at most ${LONGEST_COMMAND} are allowed: call a script`;
  const unknown = listUsedVariables(command).find((one) => !one.hasDefault && !isKnown(one.name, command));
  if (unknown === undefined) return findQuotingFault(command);
  const name = clean(unknown.name, 60);
  return (
    `command: there is no variable $${name}; use ${COMMAND_VARIABLES.join(", ")}, assign it first, ` +
    `or write \${${name}:-…} with a default${suggestNearest(name, COMMAND_VARIABLES)}`
  );
}

/**
 * Without quotes, the shell splits a value into words: a name could add options to a program. Quotes within substitutions
 * are not followed: such texts are not checked.
 */
function findQuotingFault(command: string): string | undefined {
  if (/\$\(|`/.test(command)) return undefined;
  const unquoted = command.replace(/"(?:\\.|[^"\\])*"|'[^']*'|\\./gs, " ");
  const names = listUsedVariables(unquoted).map(({ name }) => name);
  const bare = COMMAND_VARIABLES.find((name) => names.includes(name));
  return (
    bare && `command: write "$${bare}" with double quotes; without, the shell splits its value into words`
  );
}

/** Variables that the environment usually has. */
const USUAL_VARIABLES =
  /^(?:HOME|USER|LOGNAME|PATH|PWD|SHELL|TERM|LANG|TMPDIR|EDITOR|VISUAL|PAGER|_|(?:SIGNALBOX|ETCDCTL|SSH|XDG)_\w+)$/;

/** Whether a variable is one of ours, usual, or set by the text itself. */
function isKnown(name: string, text: string): boolean {
  if (COMMAND_VARIABLES.some((one) => one === name) || USUAL_VARIABLES.test(name)) return true;
  return new RegExp(`(?<![$\\w{])${name}=|\\bfor\\s+${name}\\b|\\bread\\b[^;|&\\n]*\\b${name}\\b`).test(text);
}

function findKeyFault(chord: string | undefined, earlier: readonly UserCommand[]): string | undefined {
  if (chord === undefined) return undefined;
  if (chord.startsWith("ctrl+"))
    return "key: a user command cannot be on a key with Ctrl, since these are easily hit by mistake; use another key";
  const other = earlier.find(({ key }) => key === chord);
  return other && `key: ${quoteText(other.title)} has it too; write another key for one of them`;
}
