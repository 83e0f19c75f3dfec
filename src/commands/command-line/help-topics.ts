import { formatJsonDocument } from "../json-output.ts";
import { type Command, TOPICS } from "../spec.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { renderHelpSection, wrapHelpText } from "./help.ts";

const MORE =
  "See signalbox COMMAND --help for one command, and signalbox help exit-codes for the exit codes.";

/** Renders the help of the program: all commands by topic. */
export function renderProgramHelp(commands: readonly Command[], columns: number): string {
  const gap = Math.max(...commands.map(({ id }) => id.length)) + 4;
  const topics = TOPICS.flatMap((topic) => {
    const rows = commands.filter((command) => command.topic === topic).map(buildBriefRow);
    return renderHelpSection(topic, rows, columns, gap);
  });
  return [
    "signalbox: distributed locks and fair resource leases over etcd, for jobs on many hosts",
    "",
    "Usage: signalbox COMMAND [options] [arguments]",
    ...topics,
    "",
    "Put the same line into the crontab of several hosts, and one of them runs it:",
    "  * * * * *  signalbox run --lock invoices -- ./invoices.sh",
    "",
    ...wrapHelpText(MORE, columns),
    "",
  ].join("\n");
}

/** Renders the help of commands that begin with the same word, such as `group`. */
export function renderSubcommandsHelp(word: string, family: readonly Command[], columns: number): string {
  const words = family.map(({ id }) => id.slice(word.length + 1));
  return [
    `Usage: signalbox ${word} ${words.join("|")} [options] [arguments]`,
    ...renderHelpSection("Commands", family.map(buildBriefRow), columns),
    "",
    `See signalbox ${word} COMMAND --help for one command.`,
    "",
  ].join("\n");
}

function buildBriefRow({ id, brief }: Command): readonly [string, string] {
  return [id, brief];
}

export function renderExitCodesHelp(columns: number): string {
  return [...renderHelpSection("Exit codes", EXIT_CODES, columns, 13).slice(1), ""].join("\n");
}

/** Formats the exit codes as JSON. */
export function formatExitCodesJson(): string {
  const exitCodes = EXIT_CODES.map(([code, meaning]) => ({ code: code.replace("–", "-"), meaning }));
  return formatJsonDocument({ exitCodes });
}
