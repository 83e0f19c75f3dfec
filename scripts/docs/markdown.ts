/** Generates docs/commands.md from the declarations of the commands and of the settings. */

import {
  COMMON_FLAGS,
  CONNECTION_SETTINGS,
  type Command,
  LOGGING_SETTINGS,
  TOPICS,
} from "../../src/cli/frame/command.ts";
import { buildArgumentRows, buildFlagRows, renderUsage } from "../../src/cli/frame/command-line/help.ts";
import { EXIT_CODES } from "../../src/cli/frame/command-line/help-topics.ts";
import { getFlagName, type SettingKey } from "../../src/core/config/settings.ts";
import { FILES, GIVEN, PRECEDENCE, VARIABLES } from "./environment.ts";
import { listSettings } from "./settings.ts";

/** @param commands  in the order of help */
export function renderCommandsPage(commands: readonly Command[]): string {
  return [
    "# Commands",
    "",
    "Made from the program by `npm run docs`; changes go into `src/cli/commands/` and `src/core/config/settings.ts`.",
    "",
    ...renderContents(commands),
    ...TOPICS.flatMap((topic) => [
      `## ${topic}`,
      "",
      ...commands.filter((command) => command.topic === topic).flatMap(renderCommandSection),
    ]),
    "## Flags of every command",
    "",
    ...renderList(buildFlagRows(COMMON_FLAGS)),
    "## Settings",
    "",
    PRECEDENCE,
    "",
    ...renderSettings(commands),
    "## Files and variables",
    "",
    ...renderList([...FILES, ...VARIABLES]),
    "`run` sets these variables for its command:",
    "",
    ...renderList(GIVEN),
    "## Exit codes",
    "",
    "`signalbox help exit-codes --json` prints them as JSON.",
    "",
    ...renderMarkdownTable(["code", "meaning"], EXIT_CODES),
  ].join("\n");
}

function renderContents(commands: readonly Command[]): string[] {
  const rows = TOPICS.map((topic) => {
    const links = commands
      .filter((command) => command.topic === topic)
      .map(({ id }) => `[${id}](#${formatAnchor(id)})`);
    return [topic, links.join(" · ")] as const;
  });
  return renderMarkdownTable(["to", "commands"], rows);
}

/** Returns the anchor of a command's heading. */
function formatAnchor(id: string): string {
  return `signalbox-${id.replaceAll(" ", "-")}`;
}

function renderCommandSection(command: Command): string[] {
  const { id, brief, about = [], args = [], flags = [], variables = [] } = command;
  const { settings: keys = [], examples } = command;
  return [
    `### signalbox ${id}`,
    "",
    `${escapeMarkdown(capitalize(brief))}.`,
    "",
    "```",
    renderUsage(command),
    "```",
    "",
    ...about.flatMap((paragraph) => [escapeMarkdown(paragraph), ""]),
    ...renderList([...buildArgumentRows(args), ...buildFlagRows(flags), ...variables]),
    ...renderSettingsLine(keys),
    "```sh",
    ...examples.flatMap(([line, what]) => [`# ${what}`, line]),
    "```",
    "",
  ];
}

/** Renders the settings of a command. The ones that nearly all commands have are only named by topic. */
function renderSettingsLine(keys: readonly SettingKey[]): string[] {
  const own = keys.filter((key) => !CONNECTION_SETTINGS.includes(key) && !LOGGING_SETTINGS.includes(key));
  const about = [
    ...own.flatMap((key) => getFlagName(key) ?? []).map((flag) => `\`${flag}\``),
    ...(CONNECTION_SETTINGS.some((key) => keys.includes(key)) ? ["connection to etcd"] : []),
    ...(LOGGING_SETTINGS.some((key) => keys.includes(key)) ? ["logging"] : []),
  ];
  return about.length === 0 ? [] : [`[Settings](#settings): ${about.join(", ")}.`, ""];
}

function renderList(rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0
    ? []
    : [...rows.map(([left, right]) => `- \`${left}\`: ${escapeMarkdown(right)}`), ""];
}

function renderSettings(commands: readonly Command[]): string[] {
  const rows = listSettings(commands).map(({ key, flag, short, kind, variables, standard, help }) => [
    `\`${key}\``,
    flag === undefined ? "" : `\`${short === undefined ? "" : `-${short}, `}${flag}\``,
    variables.map((name) => `\`${name}\``).join(" "),
    `\`${kind}\``,
    standard === "-" ? "" : `\`${standard}\``,
    help,
  ]);
  return renderMarkdownTable(["key in a file", "flag", "variables", "value", "default", ""], rows);
}

/** Renders a table and an empty line. Cells are Markdown text. */
export function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const renderLine = (cells: readonly string[]) =>
    `| ${cells.map((cell) => escapeMarkdown(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [renderLine(head), renderLine(head.map(() => "---")), ...rows.map(renderLine), ""];
}

/** Escapes HTML and emphasis outside of code. */
export function escapeMarkdown(text: string): string {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;").replaceAll("*", "\\*")))
    .join("`");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
