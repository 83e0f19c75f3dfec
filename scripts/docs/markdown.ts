/** docs/commands.md, made from the declarations of the commands and of the settings. */
import { EXIT_CODES } from "../../src/commands/exit-codes.ts";
import { flagRows, usage } from "../../src/commands/help.ts";
import { COMMON, type Command, TOPICS } from "../../src/commands/spec.ts";
import { describeSettings } from "../../src/config/config.ts";

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
    "Flags win over variables, these over `~/.config/signalbox/config.json`, that over `/etc/signalbox/config.json`.",
    "",
    ...settings(),
    "## Exit codes",
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
  const { id, brief, about = [], args = [], flags = [], settings: keys = [], examples } = command;
  const names = describeSettings().filter(({ key, flag }) => keys.includes(key) && flag !== undefined);
  return [
    `### signalbox ${id}`,
    "",
    `${capital(brief)}.`,
    "",
    "```",
    usage(command),
    "```",
    "",
    ...about.flatMap((paragraph) => [escaped(paragraph), ""]),
    ...list(args.map(({ name, help }) => [name, help] as const)),
    ...list(flagRows(flags)),
    ...(names.length === 0 ? [] : [`Settings: ${names.map(({ flag }) => `\`${flag}\``).join(", ")}.`, ""]),
    "```sh",
    ...examples.flatMap(([line, what]) => [`# ${what}`, line]),
    "```",
    "",
  ];
}

function list(rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : [...rows.map(([left, right]) => `- \`${left}\`: ${escaped(right)}`), ""];
}

function settings(): string[] {
  const rows = describeSettings().map(({ key, flag, short, variables, standard, help }) => [
    ...[`\`${key}\``, flag === undefined ? "" : `\`${short === undefined ? "" : `-${short}, `}${flag}\``],
    ...[variables.map((name) => `\`${name}\``).join(" "), standard === "-" ? "" : `\`${standard}\``, help],
  ]);
  return tableOf(["key in a file", "flag", "variables", "default", ""], rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => escaped(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line), ""];
}

/** What Markdown would take for HTML. */
function escaped(text: string): string {
  return text.replaceAll("<", "&lt;");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
