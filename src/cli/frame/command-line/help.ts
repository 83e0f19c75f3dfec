import type { Terminal } from "../../../core/base/terminal.ts";
import { describeSettings } from "../../../core/config/config.ts";
import { getFlagHelp, type SettingKey } from "../../../core/config/settings.ts";
import { type Argument, COMMON_FLAGS, CONNECTION_SETTINGS, type Command, type Flag } from "../command.ts";

/**
 * Returns the width of help: that of the terminal, from 80 to 100 columns. In a pipe 80, because a pager breaks longer
 * lines.
 */
export function computeHelpWidth(terminal: Pick<Terminal, "isOutput" | "getSize">): number {
  return terminal.isOutput() ? Math.min(100, Math.max(80, terminal.getSize().columns)) : 80;
}

export function renderCommandHelp(spec: Command, columns: number): string {
  const { settings = [] } = spec;
  return [
    `signalbox ${spec.id}: ${spec.brief}`,
    "",
    `Usage: ${renderUsage(spec)}`,
    "",
    ...renderExamples(spec.examples, columns),
    ...(spec.about ?? []).flatMap((paragraph) => ["", ...wrapHelpText(paragraph, columns)]),
    ...renderHelpSection("Arguments", buildArgumentRows(spec.args ?? []), columns),
    ...renderHelpSection(
      "Options",
      buildFlagRows([...(spec.flags ?? []), ...(spec.takesWords ? [] : COMMON_FLAGS)]),
      columns,
    ),
    ...renderHelpSection("Variables", spec.variables ?? [], columns),
    ...renderHelpSection(
      "Settings (also set by a variable, or in the configuration file)",
      buildSettingRows(settings.filter((key) => !CONNECTION_SETTINGS.includes(key))),
      columns,
    ),
    ...(settings.some((key) => CONNECTION_SETTINGS.includes(key))
      ? ["", "Connection to etcd (--endpoints and others): see signalbox help connection"]
      : []),
    "",
  ].join("\n");
}

export function renderExamples(examples: Command["examples"], columns: number): string[] {
  return ["Examples:", ...examples.flatMap(([line, what]) => [`  ${line}`, ...indentText(what, 6, columns)])];
}

export function renderUsage({ id, args = [], flags = [], takesCommand, takesWords }: Command): string {
  const names = args.map(({ name, isOptional, isRest }) => {
    const shown = isRest ? `${name}...` : name;
    return isOptional ? `[${shown}]` : shown;
  });
  return [
    "signalbox",
    id,
    ...(takesWords && flags.length === 0 ? [] : ["[options]"]),
    ...names,
    ...(takesCommand === true ? ["--", "COMMAND", "[ARG...]"] : []),
    ...(takesCommand === "optional" ? ["[-- COMMAND [ARG...]]"] : []),
  ].join(" ");
}

/** Renders a title and rows in two columns. Returns no lines if there are no rows. */
export function renderHelpSection(
  title: string,
  rows: readonly (readonly [string, string])[],
  columns: number,
  gap = 30,
): string[] {
  if (rows.length === 0) return [];
  return ["", `${title}:`, ...rows.flatMap(([left, right]) => renderHelpRow(left, right, columns, gap))];
}

function renderHelpRow(left: string, right: string, columns: number, gap: number): string[] {
  const text = indentText(right, gap, columns);
  if (left.length > gap - 4) return [`  ${left}`, ...text];
  return text.map((line, index) => (index === 0 ? `  ${left}`.padEnd(gap) + line.slice(gap) : line));
}

function indentText(text: string, by: number, columns: number): string[] {
  return wrapHelpText(text, columns - by).map((line) => " ".repeat(by) + line);
}

export function buildArgumentRows(args: readonly Argument[]): [string, string][] {
  return args.map(({ name, help, choices }) => [name, addChoices(help, choices)]);
}

/** Adds the choices to the help text, unless it names them already. */
function addChoices(help: string, choices: readonly string[] = []): string {
  const words = new Set(help.match(/[\w-]+/g));
  const last = choices.at(-1);
  if (last === undefined || choices.every((choice) => words.has(choice))) return help;
  return `${help}: ${[choices.slice(0, -1).join(", "), last].filter(Boolean).join(" or ")}`;
}

export function buildFlagRows(flags: readonly Flag[]): [string, string][] {
  return flags.map(({ name, short, value, choices, isOptional, isRepeatable, help }) => {
    const long = `--${name}${value === undefined ? "" : isOptional ? `[=${value}]` : ` ${value}`}`;
    return [
      `${short === undefined ? "" : `-${short}, `}${long}`,
      `${addChoices(help, choices)}${isRepeatable && value ? " (repeatable)" : ""}`,
    ];
  });
}

export function buildSettingRows(settings: readonly SettingKey[]): [string, string][] {
  const rows = describeSettings();
  return settings.flatMap((wanted) => {
    const found = rows.find(({ key }) => key === wanted);
    if (found?.flag === undefined) return [];
    const { flag, short, kind, standard } = found;
    const help = getFlagHelp(wanted);
    const isSwitch = standard === "true" || standard === "false";
    const left = `${short === undefined ? "" : `-${short}, `}${flag}${isSwitch ? "" : ` ${kind}`}`;
    return [
      [left, standard === "-" || isSwitch ? help : `${help} (default: ${standard})`] as [string, string],
    ];
  });
}

/** Wraps a text between words. */
export function wrapHelpText(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
