/** Generates the manual pages from the same declarations as docs/commands.md. */

import { COMMON_FLAGS, CONNECTION_SETTINGS, type Command, TOPICS } from "../../src/cli/frame/command.ts";
import {
  buildArgumentRows,
  buildFlagRows,
  buildSettingRows,
  renderUsage,
  wrapHelpText,
} from "../../src/cli/frame/command-line/help.ts";
import { EXIT_CODES } from "../../src/cli/frame/command-line/help-topics.ts";
import { FILES, GIVEN, PRECEDENCE, VARIABLES } from "./environment.ts";
import { listSettings } from "./settings.ts";

const ABOUT =
  "Put the same line into the crontab of many hosts: one of them runs the job. signalbox takes a lock, and units of shared" +
  " resources if asked to, in etcd; runs a command while it holds them; and ends the command before anyone else can get them.";

/** Renders the pages by their names: that of the program, and one for each command. @param commands  in the order of help */
export function renderManualPages(commands: readonly Command[], version: string): Map<string, string> {
  const pages = commands.map(
    (command) => [toPageName(command), renderCommandPage(command, version)] as const,
  );
  return new Map([["signalbox", renderProgramPage(commands, version)], ...pages]);
}

function toPageName({ id }: Command): string {
  return `signalbox-${id.replaceAll(" ", "-")}`;
}

function renderHead(name: string, brief: string, version: string): string[] {
  return [
    `.TH ${escapeText(name.toUpperCase())} 1 "" "signalbox ${version}" "User Commands"`,
    ".nh", // no hyphenation, so that names can be found by search
    ".ad l",
    ".SH NAME",
    `${escapeText(name)} \\- ${escapeText(brief)}`,
  ];
}

function renderProgramPage(commands: readonly Command[], version: string): string {
  return `${[
    ...renderHead("signalbox", "distributed locks and fair resource leases over etcd", version),
    ".SH SYNOPSIS",
    renderBold("signalbox COMMAND [options] [arguments]"),
    ".SH DESCRIPTION",
    ...renderProse(ABOUT),
    ".SH COMMANDS",
    ...renderProse("Each command has a page, such as `signalbox-run`(1). Ordered by purpose:"),
    ...TOPICS.flatMap((topic) => commands.filter((command) => command.topic === topic)).flatMap((command) =>
      renderItem([toPageName(command), capitalize(command.brief)]),
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

function renderCommandPage(command: Command, version: string): string {
  const { brief, about = [], args = [], flags = [], variables = [], settings = [], examples } = command;
  const own = settings.filter((key) => !CONNECTION_SETTINGS.includes(key));
  const needsEtcd = own.length < settings.length;
  const options = [
    ...[...buildArgumentRows(args), ...buildFlagRows(flags), ...variables].flatMap(renderItem),
    ...buildSettingRows(own).flatMap(renderItem),
    ...(needsEtcd
      ? [".PP", ...renderProse("The settings of the connection to etcd are also options of this command.")]
      : []),
  ];
  return `${[
    ...renderHead(toPageName(command), brief, version),
    ".SH SYNOPSIS",
    renderBold(renderUsage(command)),
    ".SH DESCRIPTION",
    ...renderProse(`${capitalize(brief)}.`),
    ...about.flatMap((paragraph) => [".PP", ...renderProse(paragraph)]),
    ...(options.length === 0 ? [] : [".SH OPTIONS", ...options]),
    ".SH EXAMPLES",
    ...examples.flatMap(renderItem),
    ".SH SEE ALSO",
    ".BR signalbox (1),",
    "for the options of every command, settings and exit codes",
  ].join("\n")}\n`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
