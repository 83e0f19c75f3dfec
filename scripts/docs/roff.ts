/** The manual page, made from the same declarations as docs/commands.md. */
import { EXIT_CODES } from "../../src/commands/exit-codes.ts";
import { argumentRows, flagRows, settingRows, usage, wrapped } from "../../src/commands/help.ts";
import { COMMON, CONNECTION, type Command, TOPICS } from "../../src/commands/spec.ts";
import { settingsOf } from "./settings.ts";
import { FILES, GIVEN, PRECEDENCE, VARIABLES } from "./surroundings.ts";

const ABOUT =
  "Put the same line into the crontab of many hosts: one of them runs the job. signalbox takes a lock, and units of shared" +
  " resources if asked to, in etcd; runs a command while it holds them; and ends the command before anyone else can get them.";

/** @param commands  in the order of help */
export function manualPage(commands: readonly Command[], version: string): string {
  return `${[
    `.TH SIGNALBOX 1 "" "signalbox ${version}" "User Commands"`,
    ".nh", // names must be found as they are written
    ".ad l",
    ".SH NAME",
    "signalbox \\- distributed locks and fair resource leases over etcd",
    ".SH SYNOPSIS",
    ".nf",
    ...commands.map((command) => bold(usage(command))),
    ".fi",
    ".SH DESCRIPTION",
    ...prose(ABOUT),
    ".SH COMMANDS",
    ...prose(
      "In the order of what they are for: running, seeing, acting, configuring, scheduling, checking, migrating.",
    ),
    ...TOPICS.flatMap((topic) => commands.filter((command) => command.topic === topic)).flatMap(commandPart),
    ".SH OPTIONS",
    ...prose("Every command takes these."),
    ...flagRows(COMMON).flatMap(item),
    ".SH SETTINGS",
    ...prose(PRECEDENCE),
    ...settingItems(commands),
    ".SH ENVIRONMENT",
    ...prose("Beside the variables of settings, these are read:"),
    ...VARIABLES.flatMap(item),
    ".PP",
    ...prose("The command of run finds these:"),
    ...GIVEN.flatMap(item),
    ".SH FILES",
    ...FILES.flatMap(item),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(item),
    ".SH EXAMPLES",
    ...commands.flatMap(({ examples: [first] }) => (first === undefined ? [] : item(first))),
    ".SH SEE ALSO",
    ".BR etcdctl (1),",
    ".BR flock (1),",
    ".BR crontab (5)",
  ].join("\n")}\n`;
}

function commandPart(command: Command): string[] {
  const { id, brief, about = [], args = [], flags = [], variables = [], settings = [], examples } = command;
  const own = settings.filter((key) => !CONNECTION.includes(key));
  const needsEtcd = own.length < settings.length;
  return [
    `.SS ${text(`signalbox ${id}`)}`,
    ...prose(`${brief.charAt(0).toUpperCase()}${brief.slice(1)}.`),
    ...about.flatMap((paragraph) => [".PP", ...prose(paragraph)]),
    ...argumentRows(args).flatMap(item),
    ...flagRows(flags).flatMap(item),
    ...variables.flatMap(item),
    ...settingRows({ ...command, settings: own }).flatMap(item),
    ...(needsEtcd
      ? [".PP", ...prose("It takes the settings that say how etcd is reached, as flags too.")]
      : []),
    ".PP",
    "For example:",
    ...examples.flatMap(item),
  ];
}

function settingItems(commands: readonly Command[]): string[] {
  return settingsOf(commands).flatMap(({ key, flag, short, kind, variables, standard, help }) => {
    const names = [
      short === undefined || flag === undefined ? "" : `-${short}`,
      flag ?? "",
      ...variables,
      `"${key}"`,
    ];
    const otherwise = standard === "-" ? "" : `; default ${standard}`;
    return item([names.filter(Boolean).join(", "), `${help} (${kind}${otherwise})`]);
  });
}

function item([term, meaning]: readonly [string, string]): string[] {
  return [".TP", bold(term), ...prose(meaning)];
}

/** Text that is filled, in short lines; what stands in backquotes is bold. */
function prose(plain: string): string[] {
  const marked = text(plain).replace(/\\`([^`\\]*(?:\\[^`][^`\\]*)*)\\`/g, "\\fB$1\\fR");
  return wrapped(marked, 78).map(harmless);
}

function bold(plain: string): string {
  return `\\fB${text(plain)}\\fR`;
}

/** Signs that roff would take for something else. */
const SIGNS: Record<string, string> = {
  "\\": "\\e",
  "-": "\\-",
  "`": "\\`",
  "'": "\\(aq",
  "^": "\\(ha",
  "~": "\\(ti",
  "–": "\\(en",
  "…": "...",
};

/** Nothing in it is an escape, and all of it is ASCII. */
function text(plain: string): string {
  return plain.replace(/[\\`'^~-]|[^\0-\x7f]/gu, (sign) => SIGNS[sign] ?? `\\[u${hex(sign)}]`);
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** A line that is no request. */
function harmless(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
