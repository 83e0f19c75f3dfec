/** Generates the manual page from the same declarations as docs/commands.md. */
import { EXIT_CODES } from "../../src/commands/command-line/exit-codes.ts";
import {
  buildArgumentRows,
  buildFlagRows,
  buildSettingRows,
  renderUsage,
  wrapHelpText,
} from "../../src/commands/command-line/help.ts";
import { COMMON_FLAGS, CONNECTION_SETTINGS, type Command, TOPICS } from "../../src/commands/spec.ts";
import { FILES, GIVEN, PRECEDENCE, VARIABLES } from "./environment.ts";
import { listSettings } from "./settings.ts";

const ABOUT =
  "Put the same line into the crontab of many hosts: one of them runs the job. signalbox takes a lock, and units of shared" +
  " resources if asked to, in etcd; runs a command while it holds them; and ends the command before anyone else can get them.";

/** @param commands  in the order of help */
export function renderManualPage(commands: readonly Command[], version: string): string {
  return `${[
    `.TH SIGNALBOX 1 "" "signalbox ${version}" "User Commands"`,
    ".nh", // no hyphenation, so that names can be found by search
    ".ad l",
    ".SH NAME",
    "signalbox \\- distributed locks and fair resource leases over etcd",
    ".SH SYNOPSIS",
    ".nf",
    ...commands.map((command) => renderBold(renderUsage(command))),
    ".fi",
    ".SH DESCRIPTION",
    ...renderProse(ABOUT),
    ".SH COMMANDS",
    ...renderProse("Ordered by purpose: run, observe, act, configure, schedule, check, migrate."),
    ...TOPICS.flatMap((topic) => commands.filter((command) => command.topic === topic)).flatMap(
      renderCommand,
    ),
    ".SH OPTIONS",
    ...renderProse("All commands have these options."),
    ...buildFlagRows(COMMON_FLAGS).flatMap(renderItem),
    ".SH SETTINGS",
    ...renderProse(PRECEDENCE),
    ...renderSettings(commands),
    ".SH ENVIRONMENT",
    ...renderProse("Besides the variables of the settings, signalbox reads these:"),
    ...VARIABLES.flatMap(renderItem),
    ".PP",
    ...renderProse("run sets these variables for its command:"),
    ...GIVEN.flatMap(renderItem),
    ".SH FILES",
    ...FILES.flatMap(renderItem),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(renderItem),
    ".SH EXAMPLES",
    ...commands.flatMap(({ examples: [first] }) => (first === undefined ? [] : renderItem(first))),
    ".SH SEE ALSO",
    ".BR etcdctl (1),",
    ".BR flock (1),",
    ".BR crontab (5)",
  ].join("\n")}\n`;
}

function renderCommand(command: Command): string[] {
  const { id, brief, about = [], args = [], flags = [], variables = [], settings = [], examples } = command;
  const own = settings.filter((key) => !CONNECTION_SETTINGS.includes(key));
  const needsEtcd = own.length < settings.length;
  return [
    `.SS ${escapeText(`signalbox ${id}`)}`,
    ...renderProse(`${brief.charAt(0).toUpperCase()}${brief.slice(1)}.`),
    ...about.flatMap((paragraph) => [".PP", ...renderProse(paragraph)]),
    ...buildArgumentRows(args).flatMap(renderItem),
    ...buildFlagRows(flags).flatMap(renderItem),
    ...variables.flatMap(renderItem),
    ...buildSettingRows({ ...command, settings: own }).flatMap(renderItem),
    ...(needsEtcd
      ? [".PP", ...renderProse("The settings of the connection to etcd are also flags of this command.")]
      : []),
    ".PP",
    "For example:",
    ...examples.flatMap(renderItem),
  ];
}

function renderSettings(commands: readonly Command[]): string[] {
  return listSettings(commands).flatMap(({ key, flag, short, kind, variables, standard, help }) => {
    const names = [
      short === undefined || flag === undefined ? "" : `-${short}`,
      flag ?? "",
      ...variables,
      `"${key}"`,
    ];
    const otherwise = standard === "-" ? "" : `; default ${standard}`;
    return renderItem([names.filter(Boolean).join(", "), `${help} (${kind}${otherwise})`]);
  });
}

function renderItem([term, meaning]: readonly [string, string]): string[] {
  return [".TP", renderBold(term), ...renderProse(meaning)];
}

/** Renders filled text in short lines. Text in backquotes becomes bold. */
function renderProse(plain: string): string[] {
  const marked = escapeText(plain).replace(/\\`([^`\\]*(?:\\[^`][^`\\]*)*)\\`/g, "\\fB$1\\fR");
  return wrapHelpText(marked, 78).map(escapeLine);
}

function renderBold(plain: string): string {
  return `\\fB${escapeText(plain)}\\fR`;
}

/** Characters with a special meaning in roff. */
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

/** Escapes text: the result contains no escapes of the text itself, and only ASCII. */
function escapeText(plain: string): string {
  return plain.replace(/[\\`'^~-]|[^\0-\x7f]/gu, (sign) => SIGNS[sign] ?? `\\[u${toHexEscape(sign)}]`);
}

function toHexEscape(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** Renders a text line that roff does not read as a request. */
function escapeLine(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
