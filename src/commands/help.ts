import type { Terminal } from "../base/terminal.ts";
import { describeSettings } from "../config/config.ts";
import { type Argument, COMMON, type Command, type Flag } from "./spec.ts";

/** Columns that help takes: as many as the terminal has, within reason; in a pipe 80, as a pager breaks longer lines. */
export function helpColumns(terminal: Pick<Terminal, "isOutput" | "size">): number {
  return terminal.isOutput() ? Math.min(100, Math.max(80, terminal.size().columns)) : 80;
}

/** Help of one command, made from its declaration. */
export function commandHelp(spec: Command, columns: number): string {
  return [
    `signalbox ${spec.id}: ${spec.brief}`,
    "",
    `Usage: ${usage(spec)}`,
    ...(spec.about ?? []).flatMap((paragraph) => ["", ...wrapped(paragraph, columns)]),
    ...section("Arguments", argumentRows(spec.args ?? []), columns),
    ...section("Options", flagRows([...(spec.flags ?? []), ...(spec.takesWords ? [] : COMMON)]), columns),
    ...section("Variables", spec.variables ?? [], columns),
    ...section(
      "Settings (each also in a variable and in the configuration file)",
      settingRows(spec),
      columns,
    ),
    "",
    "Examples:",
    ...spec.examples.flatMap(([line, what]) => [`  ${line}`, ...indented(what, 6, columns)]),
    "",
  ].join("\n");
}

export function usage({ id, args = [], flags = [], takesCommand, takesWords }: Command): string {
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

/** A title, and rows below it in two columns. Nothing where there are none. */
export function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  columns: number,
  gap = 30,
): string[] {
  if (rows.length === 0) return [];
  return ["", `${title}:`, ...rows.flatMap(([left, right]) => row(left, right, columns, gap))];
}

function row(left: string, right: string, columns: number, gap: number): string[] {
  const text = indented(right, gap, columns);
  if (left.length > gap - 4) return [`  ${left}`, ...text];
  return text.map((line, index) => (index === 0 ? `  ${left}`.padEnd(gap) + line.slice(gap) : line));
}

function indented(text: string, by: number, columns: number): string[] {
  return wrapped(text, columns - by).map((line) => " ".repeat(by) + line);
}

export function argumentRows(args: readonly Argument[]): [string, string][] {
  return args.map(({ name, help, choices }) => [name, withChoices(help, choices)]);
}

/** What may be given stands in the help, unless the help says so itself. */
function withChoices(help: string, choices: readonly string[] = []): string {
  const words = new Set(help.match(/[\w-]+/g));
  const last = choices.at(-1);
  if (last === undefined || choices.every((choice) => words.has(choice))) return help;
  return `${help}: ${[choices.slice(0, -1).join(", "), last].filter(Boolean).join(" or ")}`;
}

export function flagRows(flags: readonly Flag[]): [string, string][] {
  return flags.map(({ name, short, value, choices, isOptional, isRepeatable, help }) => {
    const long = `--${name}${value === undefined ? "" : isOptional ? `[=${value}]` : ` ${value}`}`;
    return [
      `${short === undefined ? "" : `-${short}, `}${long}`,
      `${withChoices(help, choices)}${isRepeatable && value ? " (repeatable)" : ""}`,
    ];
  });
}

export function settingRows({ settings = [] }: Command): [string, string][] {
  const rows = describeSettings();
  return settings.flatMap((wanted) => {
    const found = rows.find(({ key }) => key === wanted);
    if (found?.flag === undefined) return [];
    const { flag, short, kind, standard, help } = found;
    const isSwitch = standard === "true" || standard === "false";
    const left = `${short === undefined ? "" : `-${short}, `}${flag}${isSwitch ? "" : ` ${kind}`}`;
    return [
      [left, standard === "-" || isSwitch ? help : `${help} (default: ${standard})`] as [string, string],
    ];
  });
}

/** A text in lines, broken between words. */
export function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
