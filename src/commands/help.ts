import { describeSettings } from "../config/config.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { COMMON, type Command, type Flag, TOPICS } from "./spec.ts";

const WIDTH = 100;

/** Help of the whole program: commands under what they are for. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ id }) => id.length));
  const line = ({ id, brief }: Command) => `  ${id.padEnd(width)}  ${brief}`;
  return [
    "signalbox: distributed locks and fair resource leases over etcd, for jobs on many hosts",
    "",
    "Usage: signalbox COMMAND [options] [arguments]",
    ...TOPICS.flatMap((topic) => [
      "",
      `${topic}:`,
      ...commands.filter((command) => command.topic === topic).map(line),
    ]),
    "",
    "Put the same line into the crontab of several hosts; one of them runs it:",
    "  * * * * *  signalbox run --lock invoices -- ./invoices.sh",
    "",
    "signalbox COMMAND --help says more about a command; signalbox help exit-codes, what codes mean.",
    "",
  ].join("\n");
}

/** Help of commands that begin with the same word, such as `group`. */
export function familyHelp(family: readonly Command[]): string {
  const rows = family.map(({ id, brief }) => [id, brief] as const);
  return [
    ...section("Commands", rows).slice(1),
    "",
    "signalbox COMMAND --help says more about a command.",
    "",
  ].join("\n");
}

export function exitCodesHelp(): string {
  return [...section("Exit codes", EXIT_CODES).slice(1), ""].join("\n");
}

/** Help of one command, made from its declaration. */
export function commandHelp(spec: Command): string {
  return [
    `signalbox ${spec.id}: ${spec.brief}`,
    "",
    `Usage: ${usage(spec)}`,
    ...(spec.about ?? []).flatMap((paragraph) => ["", ...wrapped(paragraph, WIDTH)]),
    ...section(
      "Arguments",
      (spec.args ?? []).map(({ name, help }) => [name, help] as const),
    ),
    ...section("Options", flagRows([...(spec.flags ?? []), ...COMMON])),
    ...section("Settings (each also in a variable and in the configuration file)", settingRows(spec)),
    ...section(
      "Examples",
      [],
      spec.examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]),
    ),
    "",
  ].join("\n");
}

export function usage({ id, args = [], takesCommand }: Command): string {
  const names = args.map(({ name, isOptional, isRest }) => {
    const shown = isRest ? `${name}...` : name;
    return isOptional ? `[${shown}]` : shown;
  });
  return [
    "signalbox",
    id,
    "[options]",
    ...names,
    ...(takesCommand ? ["--", "COMMAND", "[ARG...]"] : []),
  ].join(" ");
}

function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  lines: readonly string[] = [],
): string[] {
  if (rows.length === 0 && lines.length === 0) return [];
  return ["", `${title}:`, ...rows.flatMap(row), ...lines];
}

function row([left, right]: readonly [string, string]): string[] {
  const gap = 30;
  const text = wrapped(right, WIDTH - gap);
  const start =
    left.length > gap - 4
      ? [`  ${left}`, `${" ".repeat(gap)}${text[0]}`]
      : [`  ${left.padEnd(gap - 2)}${text[0]}`];
  return [...start, ...text.slice(1).map((line) => " ".repeat(gap) + line)];
}

export function flagRows(flags: readonly Flag[]): [string, string][] {
  return flags.map(({ name, short, value, isOptional, isRepeatable, help }) => {
    const long = `--${name}${value === undefined ? "" : isOptional ? `[=${value}]` : ` ${value}`}`;
    return [
      `${short === undefined ? "" : `-${short}, `}${long}`,
      isRepeatable && value ? `${help} (repeatable)` : help,
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

function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
