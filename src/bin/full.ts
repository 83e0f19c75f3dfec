import { EXIT, UsageError } from "../base/errors.ts";
import { findNearest, quoteText } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { reportError } from "../commands/command-line/execute-command.ts";
import { computeHelpWidth } from "../commands/command-line/help.ts";
import {
  formatExitCodesJson,
  renderExitCodesHelp,
  renderProgramHelp,
  renderSubcommandsHelp,
} from "../commands/command-line/help-topics.ts";
import type { Command, CommandIo } from "../commands/spec.ts";
import { ALL_COMMANDS } from "./commands.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";
import { findSynonym } from "./synonyms.ts";

/** All commands except `signalbox run …`, which has its own bundle. */
launch(runOther);

async function runOther(argv: readonly string[], io: CommandIo): Promise<number> {
  const [first = "", second = ""] = argv;
  if (["", "help", "--help", "-h"].includes(first)) return printHelp(argv.slice(1), io);
  if (["version", "--version", "-V"].includes(first)) {
    io.writeOutput(`signalbox ${VERSION}\n`);
    return EXIT.ok;
  }
  const two = ALL_COMMANDS.find(({ id }) => id === `${first} ${second}`);
  const one = ALL_COMMANDS.find(({ id }) => id === first);
  const family = ALL_COMMANDS.filter(({ id }) => id.startsWith(`${first} `));
  if (two === undefined && family.length > 0 && ["--help", "-h"].includes(second))
    return printHelp([first], io);
  if (two !== undefined) return runCommandLine(two, argv.slice(2), io);
  if (one !== undefined) return runCommandLine(one, argv.slice(1), io);
  return reportError(createUnknownCommandError(first, second), io, 0);
}

/** `signalbox help [COMMAND|exit-codes]`. */
async function printHelp(argv: readonly string[], io: CommandIo): Promise<number> {
  const topic = argv.join(" ");
  const columns = computeHelpWidth(io.terminal);
  const wanted = ALL_COMMANDS.find(({ id }) => id === topic);
  if (wanted !== undefined) return runCommandLine(wanted, ["--help"], io);
  const family = ALL_COMMANDS.filter(({ id }) => id.startsWith(`${topic} `));
  if (["", "help", "version"].includes(topic)) io.writeOutput(renderProgramHelp(ALL_COMMANDS, columns));
  else if (topic === "exit-codes") io.writeOutput(renderExitCodesHelp(columns));
  else if (topic === "exit-codes --json") io.writeOutput(formatExitCodesJson());
  else if (family.length > 0) io.writeOutput(renderSubcommandsHelp(topic, family, columns));
  else return reportError(createUnknownCommandError(argv[0] ?? "", argv[1] ?? ""), io, 0);
  return EXIT.ok;
}

function createUnknownCommandError(first: string, second: string): UsageError {
  const ids = ALL_COMMANDS.map(({ id }: Command) => id);
  const family = ids.filter((id) => id.startsWith(`${first} `));
  if (family.length > 0) return createUnknownSubcommandError(first, second, family);
  const meant = findNearest(
    first,
    ids.flatMap((id) => [id, id.split(" ", 1)[0] ?? id]),
  );
  const other = findSynonym(first);
  if (other !== undefined)
    return new UsageError(`${quoteText(first)} is not a command; use: signalbox ${other}`);
  const hint = meant === undefined ? "see: signalbox --help" : `did you mean ${quoteText(meant)}?`;
  return new UsageError(`${quoteText(first)} is not a command; ${hint}`);
}

/** Builds the error for an unknown subcommand such as `group sett`, or for `group` alone. */
function createUnknownSubcommandError(first: string, second: string, family: readonly string[]): UsageError {
  const there = `there are: ${family.join(", ")}`;
  if (second === "") return new UsageError(`${quoteText(first)} needs a second word; ${there}`);
  const meant = findNearest(
    second,
    family.map((id) => id.slice(first.length + 1)),
  );
  const hint = meant === undefined ? there : `did you mean ${quoteText(`${first} ${meant}`)}?`;
  return new UsageError(`${quoteText(`${first} ${second}`)} is not a command; ${hint}`);
}
