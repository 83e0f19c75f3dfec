/** docs/commands.md, made from the declarations of the commands and of the settings. */
import { EXIT_CODES } from "../../src/commands/exit-codes.ts";
import { argumentRows, flagRows, usage } from "../../src/commands/help.ts";
import { COMMON, CONNECTION, type Command, LOGGING, TOPICS } from "../../src/commands/spec.ts";
import { flagOf, type SettingKey } from "../../src/config/settings.ts";
import { settingsOf } from "./settings.ts";
import { FILES, GIVEN, PRECEDENCE, VARIABLES } from "./surroundings.ts";

/** @param commands  in the order of help */
export function commandsPage(commands: readonly Command[]): string {
  return [
    "# Commands",
    "",
    "Made from the program by `npm run docs`; changes go into `src/commands/` and `src/config/settings.ts`.",
    "",
    ...contents(commands),
    ...TOPICS.flatMap((topic) => [
      `## ${topic}`,
      "",
      ...commands.filter((command) => command.topic === topic).flatMap(commandSection),
    ]),
    "## Flags of every command",
    "",
    ...list(flagRows(COMMON)),
    "## Settings",
    "",
    PRECEDENCE,
    "",
    ...settings(commands),
    "## Files and variables",
    "",
    ...list([...FILES, ...VARIABLES]),
    "The command of `run` finds:",
    "",
    ...list(GIVEN),
    "## Exit codes",
    "",
    "`signalbox help exit-codes --json` prints them for programs.",
    "",
    ...tableOf(["code", "meaning"], EXIT_CODES),
  ].join("\n");
}

function contents(commands: readonly Command[]): string[] {
  const rows = TOPICS.map((topic) => {
    const links = commands
      .filter((command) => command.topic === topic)
      .map(({ id }) => `[${id}](#${anchor(id)})`);
    return [topic, links.join(" · ")] as const;
  });
  return tableOf(["to", "commands"], rows);
}

/** As it stands under a heading of its own. */
function anchor(id: string): string {
  return `signalbox-${id.replaceAll(" ", "-")}`;
}

function commandSection(command: Command): string[] {
  const { id, brief, about = [], args = [], flags = [], variables = [] } = command;
  const { settings: keys = [], examples } = command;
  return [
    `### signalbox ${id}`,
    "",
    `${escaped(capital(brief))}.`,
    "",
    "```",
    usage(command),
    "```",
    "",
    ...about.flatMap((paragraph) => [escaped(paragraph), ""]),
    ...list([...argumentRows(args), ...flagRows(flags), ...variables]),
    ...settingsLine(keys),
    "```sh",
    ...examples.flatMap(([line, what]) => [`# ${what}`, line]),
    "```",
    "",
  ];
}

/** Of those that nearly every command takes, only which they are about. */
function settingsLine(keys: readonly SettingKey[]): string[] {
  const own = keys.filter((key) => !CONNECTION.includes(key) && !LOGGING.includes(key));
  const about = [
    ...own.flatMap((key) => flagOf(key) ?? []).map((flag) => `\`${flag}\``),
    ...(CONNECTION.some((key) => keys.includes(key)) ? ["how etcd is reached"] : []),
    ...(LOGGING.some((key) => keys.includes(key)) ? ["what is logged"] : []),
  ];
  return about.length === 0 ? [] : [`[Settings](#settings): ${about.join(", ")}.`, ""];
}

function list(rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : [...rows.map(([left, right]) => `- \`${left}\`: ${escaped(right)}`), ""];
}

function settings(commands: readonly Command[]): string[] {
  const rows = settingsOf(commands).map(({ key, flag, short, kind, variables, standard, help }) => [
    `\`${key}\``,
    flag === undefined ? "" : `\`${short === undefined ? "" : `-${short}, `}${flag}\``,
    variables.map((name) => `\`${name}\``).join(" "),
    `\`${kind}\``,
    standard === "-" ? "" : `\`${standard}\``,
    help,
  ]);
  return tableOf(["key in a file", "flag", "variables", "value", "default", ""], rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => escaped(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line), ""];
}

/** What Markdown would take for HTML or for emphasis, outside of code. */
function escaped(text: string): string {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;").replaceAll("*", "\\*")))
    .join("`");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
