import { EXIT } from "../../../core/base/errors.ts";
import { CONNECTION_SETTINGS, type Command, TOPICS } from "../command.ts";
import { formatJsonDocument } from "../json-output.ts";
import { buildSettingRows, renderExamples, renderHelpSection, wrapHelpText } from "./help.ts";

/** The first words of the commands in the overview: at most 20, so that it fits on one screen. */
const MAIN_WORDS: readonly string[] = [
  "run",
  "worker",
  "agent",
  "console",
  "ls",
  "show",
  "why",
  "logs",
  "reset",
  "drain",
  "undrain",
  "group",
  "resource",
  "setup",
  "schedule",
  "init",
  "doctor",
  "check",
  "migrate",
];

const EXAMPLES: Command["examples"] = [
  [
    "* * * * *  signalbox run --lock invoices -- ./invoices.sh",
    "in the crontabs of several hosts: one of them runs it",
  ],
  ["signalbox ls", "which locks are held, by which hosts, and who waits"],
];

/** What `signalbox help` explains besides the commands. */
const HELP_ROWS: readonly (readonly [string, string])[] = [
  ["COMMAND --help", "one command, or all that begin with its word"],
  ["help all", "all commands"],
  ["help connection", "the options of the connection to etcd: addresses, TLS, users"],
  ["help exit-codes", "the exit codes"],
];

/** Renders the help of the program: examples, and the most important commands by topic. */
export function renderProgramHelp(commands: readonly Command[], columns: number): string {
  const gap = 22;
  return [
    "signalbox: distributed locks and fair resource leases over etcd, for jobs on many hosts",
    "",
    "Usage: signalbox COMMAND [options] [arguments]",
    "",
    ...renderExamples(EXAMPLES, columns),
    ...TOPICS.flatMap((topic) => renderHelpSection(topic, buildMainRows(commands, topic), columns, gap)),
    ...renderHelpSection("More help", HELP_ROWS, columns, gap),
    "",
  ].join("\n");
}

/** Builds one row for each main word of a topic; that of several commands lists their second words. */
function buildMainRows(commands: readonly Command[], topic: string): (readonly [string, string])[] {
  return MAIN_WORDS.flatMap((word) => {
    const family = commands.filter(({ id }) => id.split(" ")[0] === word);
    const [first] = family;
    if (first?.topic !== topic) return [];
    if (family.length === 1) return [buildBriefRow(first)];
    return [[word, family.map(({ id }) => id.slice(word.length + 1)).join(", ")]];
  });
}

export function renderAllCommandsHelp(commands: readonly Command[], columns: number): string {
  const gap = Math.max(...commands.map(({ id }) => id.length)) + 4;
  const topics = TOPICS.flatMap((topic) => {
    const rows = commands.filter((command) => command.topic === topic).map(buildBriefRow);
    return renderHelpSection(topic, rows, columns, gap);
  });
  return [...topics.slice(1), "", "See signalbox COMMAND --help for one command.", ""].join("\n");
}

/** Renders the options of the connection to etcd. */
export function renderConnectionHelp(columns: number): string {
  const about =
    "Each option is also a variable (--endpoints: SIGNALBOX_ENDPOINTS) and a setting of the configuration file (endpoints)." +
    " etcdctl's ETCDCTL_* variables work too. signalbox config shows each value and where it comes from.";
  return [
    ...renderExamples(
      [["signalbox --endpoints https://etcd1:2379,https://etcd2:2379 --cacert ca.pem doctor", "check them"]],
      columns,
    ),
    ...renderHelpSection(
      "Options of all commands that use etcd",
      buildSettingRows(CONNECTION_SETTINGS),
      columns,
    ),
    "",
    ...wrapHelpText(about, columns),
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

export function formatExitCodesJson(): string {
  const exitCodes = EXIT_CODES.map(([code, meaning]) => ({ code: code.replace("–", "-"), meaning }));
  return formatJsonDocument({ exitCodes });
}

/** The exit codes and their meanings, for the manual: those of `run` and of all other commands. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ["0–255", "of run: the command's own code; 128+n if signal n ended it"],
  [String(EXIT.ok), "done; also: there was nothing to do"],
  [
    String(EXIT.undone),
    "nothing was changed: declined, unknown name, or --strict and nothing to do. Of checks: a warning",
  ],
  ["2", "of checks: something is critical"],
  [String(EXIT.usage), "the command line is wrong, or confirmation needs a terminal or --yes"],
  [String(EXIT.unreachable), "cannot reach etcd, or it accepts no writes; nothing was started"],
  [String(EXIT.internal), "a defect of signalbox"],
  [String(EXIT.io), "a file cannot be read, or standard output cannot be written"],
  [
    String(EXIT.busy),
    "busy: the lock is held, drained, not for this host, a condition does not hold, or the wait timed out (run -E sets another code). Of commands that change something: the state changed since it was shown, nothing was changed",
  ],
  [String(EXIT.permission), "etcd refused the credentials or the permission, or readOnly is set"],
  [String(EXIT.config), "the configuration is wrong, here or in etcd"],
  [
    String(EXIT.timeout),
    "a timeout: of run, its command was terminated; of drain and reset, some runs have not ended",
  ],
  [
    String(EXIT.lost),
    "of run: the claim was lost (reset, network, group) and its command terminated, or its guardian was killed before the command started",
  ],
  [`${EXIT.notExecutable}, ${EXIT.notFound}`, "of run: the command cannot be executed, or was not found"],
  ["128+n", "ended by signal n, such as 130 by Ctrl+C; requests already sent stay in effect"],
];
