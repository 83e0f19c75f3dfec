import { runCommand } from "../cli/commands/run/run.ts";
import { LISTINGS } from "../cli/commands/see/ls/ls.ts";
import { type Command, type CommandIo, listFlags, listSpellings } from "../cli/frame/command.ts";
import { reportError } from "../cli/frame/command-line/execute-command.ts";
import { computeHelpWidth } from "../cli/frame/command-line/help.ts";
import {
  formatExitCodesJson,
  renderAllCommandsHelp,
  renderConnectionHelp,
  renderExitCodesHelp,
  renderProgramHelp,
  renderSubcommandsHelp,
} from "../cli/frame/command-line/help-topics.ts";
import { SWITCHES, VALUED } from "../cli/syntax/leading-options.ts";
import { EXIT, UsageError } from "../core/base/errors.ts";
import { quoteShellWords } from "../core/base/shell.ts";
import { findNearest, quoteText } from "../core/base/text.ts";
import { VERSION } from "../core/base/version.ts";
import { ALL_COMMANDS } from "./commands.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

/**
 * Words of other tools, and removed commands, with the commands to use instead. Declared above the call of `launch`, which
 * uses them at once.
 */
const SYNONYMS: Readonly<Record<string, string>> = {
  lock: "run --lock NAME -- COMMAND",
  acquire: "run --lock NAME -- COMMAND",
  flock: "run --lock NAME -- COMMAND",
  exec: "run -- COMMAND",
  unlock: "reset lock NAME",
  kill: "reset",
  evict: "reset run RUN",
  release: "reset run RUN",
  list: "ls",
  status: "ls",
  ps: "ls",
  get: "show",
  describe: "show",
  raw: "show KIND NAME --raw",
  ui: "console",
  tui: "console",
  top: "console",
  daemon: "worker",
  cron: "schedule",
  add: "schedule add",
  whatif: "drain, reset or resource set, with --dry-run",
  log: "ls history",
  stats: "ls statistics",
  exporter: "serve",
  web: "serve",
  collisions: "schedule lint --collisions",
  incident: "timeline, ls history or ls audit",
  waits: "ls queues or why NAME",
  since: "ls history --since TIME, ls audit --since TIME or timeline",
  "group list": "ls groups",
  "resource list": "ls resources",
  "schedule list": "ls schedules",
  "schedule show": "show schedule KEY",
  "schedule run": "schedule trigger KEY",
  "schedule enable": "schedule resume KEY",
  "schedule disable": "schedule pause KEY",
  "schedule start": "schedule trigger KEY or schedule resume KEY",
  "schedule remove": "schedule delete KEY",
};

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
  const error = first.startsWith("-") ? createOptionError(argv) : createUnknownCommandError(first, second);
  return reportError(error, io, 0);
}

/** Builds the error for a command line that begins with an option. */
function createOptionError(argv: readonly string[]): UsageError {
  const name = argv[0]?.split("=", 1)[0] ?? "";
  if ((!name.startsWith("--") && /^-[vqc]/.test(name)) || [...VALUED, ...SWITCHES].includes(name))
    return new UsageError(`COMMAND is missing after the option ${quoteText(name)}; see: signalbox --help`);
  if (listFlags(runCommand).some((flag) => listSpellings(flag).includes(name)))
    return new UsageError(
      `${quoteText(name)} is an option of run; did you mean: signalbox run ${quoteShellWords(argv)}`,
    );
  const meant = findNearest(name.replace(/^-.$/, ""), ["--version", "--help", ...VALUED, ...SWITCHES]);
  const hint =
    meant === undefined ? "write options after the command; see: signalbox --help" : `did you mean ${meant}?`;
  return new UsageError(`unknown option ${quoteText(name)}; ${hint}`);
}

/** `signalbox help [COMMAND|TOPIC]`. */
async function printHelp(argv: readonly string[], io: CommandIo): Promise<number> {
  const topic = argv.join(" ");
  const columns = computeHelpWidth(io.terminal);
  const wanted = ALL_COMMANDS.find(({ id }) => id === topic || id === argv[0]);
  if (wanted !== undefined) return runCommandLine(wanted, ["--help"], io);
  const family = ALL_COMMANDS.filter(({ id }) => id.startsWith(`${topic} `));
  if (["", "help", "version"].includes(topic)) io.writeOutput(renderProgramHelp(ALL_COMMANDS, columns));
  else if (topic === "all") io.writeOutput(renderAllCommandsHelp(ALL_COMMANDS, columns));
  else if (topic === "connection") io.writeOutput(renderConnectionHelp(columns));
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
  const choices = `there are: ${family.join(", ")}`;
  if (second === "") return new UsageError(`${quoteText(first)} needs a second word; ${choices}`);
  const other = findSynonym(`${first} ${second === "ls" ? "list" : second}`);
  const meant = findNearest(
    second,
    family.map((id) => id.slice(first.length + 1)),
  );
  const hint =
    other !== undefined
      ? `use: signalbox ${other}`
      : meant === undefined
        ? choices
        : `did you mean ${quoteText(`${first} ${meant}`)}?`;
  return new UsageError(`${quoteText(`${first} ${second}`)} is not a command; ${hint}`);
}

/** Returns the command line to use instead of a word, without `signalbox`; undefined for an unknown word. */
function findSynonym(word: string): string | undefined {
  if (Object.hasOwn(SYNONYMS, word)) return SYNONYMS[word];
  const listing = LISTINGS.find((one) => one === word || one === `${word}s`);
  return listing && `ls ${listing}`;
}
