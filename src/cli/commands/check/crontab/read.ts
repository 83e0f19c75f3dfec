import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../../../core/base/errors.ts";
import { createFindingBuilder, type Finding } from "../../../../core/base/finding.ts";
import { quoteShellWords } from "../../../../core/base/shell.ts";
import { findNearest, pluralize, quoteText } from "../../../../core/base/text.ts";
import { thisMachine } from "../../../../core/config/machine.ts";
import { readHostFacts } from "../../../../core/fleet/host.ts";
import {
  type CronJob,
  type CrontabFormat,
  type FormatGuess,
  guessCrontabFormat,
  parseCrontab,
} from "../../../syntax/crontab.ts";
import {
  CRON_PATH,
  findInvocation,
  type Invocation,
  isToolMentioned,
  type LineCommand,
  listLineCommands,
} from "../../../syntax/line-commands.ts";
import { UNKNOWN_VALUE } from "../../../syntax/shell-parser.ts";
import { getBaseName, unwrapWords } from "../../../syntax/shell-wrappers.ts";
import { listLeasesToHold, parseSwitchman, type SwitchmanCall } from "../../../syntax/switchman-call.ts";
import type { CrontabJob } from "../../../views/checks/crontab.ts";
import { judgeCommand, judgeProgram } from "./programs.ts";
import { type CheckEnvironment, type CheckedLine, type LineReading, readSignalbox } from "./signalbox.ts";

/** Kind of finding for lines that are not parsed here. */
const UNREAD_KIND = "front-end";

/** The text of a crontab, and its name. */
export interface CrontabText {
  path: string;
  text: string;
  /** Undefined to derive it from the path or the lines. */
  format: CrontabFormat | undefined;
}

/** The jobs and findings of a crontab. */
export interface CrontabReading {
  jobs: readonly CrontabJob[];
  findings: readonly Finding[];
}

/** Kinds of findings that name no line, so that equal ones of several lines are merged. */
const MERGED_KINDS = /^(?:program|command|folder|user|characters)$/;

/** Reads every run in a crontab, and the faults that its text shows. */
export function readJobs({ path, text, format }: CrontabText, environment: CheckEnvironment): CrontabReading {
  const isOurs = isToolMentioned(text);
  const guess = guessCrontabFormat(path, text);
  const crontab = parseCrontab(text, format ?? guess.format);
  const faults = crontab.faults.map(({ line, isFatal, detail }) =>
    reportCrontab(`${path}:${line}`)[isFatal && isOurs ? "failure" : "warning"](detail),
  );
  const readings = crontab.jobs.map((job) => readLine(job, path, environment));
  return {
    jobs: readings.flatMap(({ jobs }) => jobs),
    findings: mergeUnread(path, [
      ...judgeCrontabFile(path),
      ...(format === undefined && isOurs ? listFormatDoubts(path, guess) : []),
      ...faults,
      ...findRepeatedLines(path, crontab.jobs),
      ...mergeFindings([
        ...findForeignCharacters(path, text),
        ...readings.flatMap(({ findings }) => findings),
      ]),
    ]),
  };
}

/** Merges equal findings about several lines of one crontab into one. */
function mergeFindings(findings: readonly Finding[]): Finding[] {
  const groups = Map.groupBy(findings, (one) =>
    MERGED_KINDS.test(one.kind) ? `${one.kind} ${one.level} ${one.detail}` : one,
  );
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return first ?? [];
    const more = `(and in ${pluralize(others.length, "more line")})`;
    return { ...first, detail: `${first.detail} ${more}` };
  });
}

function listFormatDoubts(check: string, { format, doubt }: FormatGuess): Finding[] {
  if (doubt === undefined) return [];
  const detail = `${doubt}; it was read as --format ${format}`;
  return [reportCrontab(check).warning(detail, "--format system, or --format user")];
}

function readLine(job: CronJob, path: string, environment: CheckEnvironment): CrontabReading {
  const where = `${path}:${job.line}`;
  const cut = findCutCommand(job, where);
  const found = listLineCommands(job.command, buildCronVariables(job, environment));
  if ("fault" in found) {
    const fault = reportCrontab(where).failure(`the shell cannot parse the command: ${found.fault}`);
    return { jobs: [], findings: [...cut, fault] };
  }
  const missing = findMissingUser(job, where);
  if (missing !== undefined) return { jobs: [], findings: [...cut, missing] };
  const line: CheckedLine = {
    ...environment,
    where,
    home: findHome(job, environment),
    isPathSet: job.variables.has("PATH"),
  };
  const commands = found.value.map((command) => readLineCommand(command, line));
  return {
    jobs: commands.flatMap(({ job: read }) => read ?? []),
    findings: [
      ...cut,
      ...findHostFaults(job, commands, line),
      ...commands.flatMap(({ findings }) => findings),
    ],
  };
}

/** A command of a line: the start of a tool with its job, or another program. */
interface CommandReading extends LineReading {
  command: LineCommand;
  invocation: Invocation | undefined;
}

function readLineCommand(command: LineCommand, line: CheckedLine): CommandReading {
  const invocation = findInvocation(command);
  if (invocation !== undefined) return { command, invocation, ...readInvocation(invocation, line) };
  const fault = findMisspelling(command);
  const findings = fault === undefined ? [] : [reportCrontab(line.where).failure(fault)];
  return { command, invocation, job: undefined, findings };
}

/**
 * Finds a misspelt tool, or a misspelt `run`, in a command with `--`: `signalbx run -- x`, `signalbox rnu -- x`,
 * `signalbox --lock a -- x`. Only these have a command after `--`.
 */
function findMisspelling({ words }: LineCommand): string | undefined {
  const at = unwrapWords(words).program;
  const [program = "", second = "", ...rest] = words.slice(at);
  const name = getBaseName(program);
  if (![second, ...rest].includes("--")) return undefined;
  const isBare = second.startsWith("-") && !rest.some((word) => /^(?:run|schedule)$/.test(word));
  if (name === "signalbox" && (isBare || (second !== "run" && findNearest(second, ["run"]) !== undefined)))
    return `${quoteText(second)} is not a command of signalbox; did you mean: signalbox run?`;
  const tools = second === "run" ? ["signalbox"] : ["switchman", "cronlock", "zoo-locked"];
  const meant = tools.includes(name) || name === "signalbox" ? undefined : findNearest(name, tools);
  return meant === undefined
    ? undefined
    : `${quoteText(name)} is not a program of signalbox; did you mean ${meant}?`;
}

/** Finds what this host lacks for a line: the user, programs, folders. */
function findHostFaults(job: CronJob, readings: readonly CommandReading[], line: CheckedLine): Finding[] {
  const { where, searchPath } = line;
  if (searchPath === undefined) return [];
  const tools = readings.flatMap(({ invocation }) =>
    invocation === undefined ? [] : judgeProgram(invocation, line),
  );
  const user = findUnknownUser(job, where);
  const commands = readings.map(({ command }) => command);
  if (isConditional(commands)) return [...user, ...tools];
  const isOurs = readings.some(({ invocation }) => invocation !== undefined);
  return [
    ...user,
    ...tools,
    ...findMissingFolders(commands, where, isOurs ? "failure" : "warning"),
    ...readings.flatMap((reading) => judgeCommandOf(reading, line)),
  ];
}

/** A missing program is a failure only where signalbox was to start it; other lines are not its own. */
function judgeCommandOf(
  { command, invocation, job, findings }: CommandReading,
  line: CheckedLine,
): Finding[] {
  if (command.isRemote) return [];
  if (invocation !== undefined) return judgeCommand(job?.command ?? [], invocation.variables, line, false);
  if (findings.length > 0) return []; // the name is misspelt
  return judgeCommand(command.words, command.variables, line, true).map((one) => ({
    ...one,
    level: "warning" as const,
  }));
}

function readInvocation(one: Invocation, line: CheckedLine): LineReading {
  if (one.tool === "run") return readSignalbox(one, line);
  if (one.tool === "switchman") return readSwitchman(one, line);
  return {
    job: undefined,
    findings: [createFindingBuilder(UNREAD_KIND, line.where).hint(one.tool)],
  };
}

/** Merges the findings of all front-end lines into one: only `migrate crontab` parses these lines. */
function mergeUnread(path: string, findings: readonly Finding[]): Finding[] {
  const unread = findings.filter(({ kind }) => kind === UNREAD_KIND);
  if (unread.length === 0) return [...findings];
  const tools = [...new Set(unread.map(({ detail }) => detail))].join(", ");
  const detail = `${pluralize(unread.length, "line")} of ${tools} ${unread.length === 1 ? "was" : "were"} not checked`;
  const remedy = "to check them: signalbox migrate crontab --check FILE";
  const told = createFindingBuilder(UNREAD_KIND, path).hint(detail, remedy);
  return [told, ...findings.filter(({ kind }) => kind !== UNREAD_KIND)];
}

/** Reports a command that ends at a percent sign. */
function findCutCommand({ isCut, command, input }: CronJob, check: string): Finding[] {
  if (!isCut || (input === "" && !isToolMentioned(command))) return [];
  const detail = "cron ends the command at the first % and passes the rest to it as input";
  return [reportCrontab(check).warning(detail, "write \\% for a percent sign in the command")];
}

/** Reports a tool in the user field of a system crontab. */
function findMissingUser({ user = "" }: CronJob, check: string): Finding | undefined {
  if (!/(^|\/)(signalbox|switchman)$/.test(user)) return undefined;
  const detail = "the user is missing: in this file it is written between the schedule and the command";
  return reportCrontab(check).failure(detail, "for a crontab without users: --format user");
}

function reportCrontab(check: string): ReturnType<typeof createFindingBuilder> {
  return createFindingBuilder("crontab", check);
}

/** Merges the crontab's variables over those that cron is known to set. */
function buildCronVariables(job: CronJob, environment: CheckEnvironment): ReadonlyMap<string, string> {
  const home = findHome(job, environment);
  return new Map([
    ["PATH", CRON_PATH],
    ...(home === undefined ? [] : [["HOME", home] as const]),
    ...job.variables,
  ]);
}

function findHome({ user, variables }: CronJob, { home }: CheckEnvironment): string | undefined {
  const set = variables.get("HOME");
  if (set !== undefined) return set;
  if (user === undefined) return home;
  return user === "root" ? "/root" : undefined;
}

/** Checks a switchman line as the equivalent signalbox line. */
function readSwitchman({ words }: Invocation, { where, settings }: CheckedLine): LineReading {
  const about = createFindingBuilder("switchman", where);
  try {
    const call = parseSwitchman(words);
    const isPlain = (text: string | undefined) => text?.includes(UNKNOWN_VALUE) !== true;
    const { lock, group, leases, command } = call;
    const isNamed = lock !== undefined && lock !== getBaseName(command[0] ?? "");
    const job: CrontabJob = {
      where,
      tool: "switchman",
      locks: lock === undefined || !isPlain(lock) ? [] : [{ name: lock, isNamed }],
      isShared: false,
      group: isPlain(group) ? group : undefined,
      leases: leases.filter(isPlain),
      ttl: settings.ttl,
      grace: settings.grace,
      command,
      isElsewhere: false,
      here: readHostFacts(thisMachine, { host: settings.host, macros: settings.macros }),
    };
    const same = toSignalboxLine(call);
    const detail = isPlain(same)
      ? `as signalbox: ${same}`
      : `as signalbox, except for parts that the shell expands: ${same.replaceAll(UNKNOWN_VALUE, "$(...)")}`;
    return { job, findings: [about.hint(detail)] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { job: undefined, findings: [about.failure(error.message)] };
  }
}

/** Commands that ask whether something exists, or create it, so that what follows may be right without it. */
const CONDITIONS = /^(?:\[{1,2}|test|case|command|which|type|hash|mkdir|install|mount)$/;
const WRITING_OPERATOR = /^(?:>|>>|>\||&>|&>>|<>)$/;

/** Returns whether a line examines or creates files itself. The check does not judge the files of such a line. */
function isConditional(commands: readonly LineCommand[]): boolean {
  return commands.some(
    ({ words, next }) => next === "(" || words.some((word) => CONDITIONS.test(getBaseName(word))),
  );
}

/** Finds absolute paths of `cd` and of redirections that do not exist, so that the shell does not start the command. */
function findMissingFolders(
  commands: readonly LineCommand[],
  check: string,
  level: Finding["level"],
): Finding[] {
  const details = commands
    .filter(({ isRemote }) => !isRemote)
    .flatMap((command) => [...findMissingWorkingFolder(command), ...findMissingTargets(command)]);
  return [...new Set(details)].map((detail) => createFindingBuilder("folder", check)[level](detail));
}

function findMissingWorkingFolder({ words: [first, ...rest] }: LineCommand): string[] {
  const folder = rest.find((word) => !word.startsWith("-")) ?? "";
  return first === "cd" && isMissing(folder) ? [`cd ${folder}: the folder does not exist`] : [];
}

function findMissingTargets({ redirections }: LineCommand): string[] {
  return redirections.flatMap(({ operator, target }) => {
    if (operator === "<")
      return isMissing(target)
        ? [`< ${target}: the file does not exist, so the shell does not start the command`]
        : [];
    const folder = dirname(target);
    if (!WRITING_OPERATOR.test(operator) || !isMissing(folder)) return [];
    return [
      `${operator} ${target}: the folder ${folder} does not exist, so the shell does not start the command`,
    ];
  });
}

/** Returns false for what only the shell knows: relative paths, patterns, unknown variables. */
function isMissing(path: string): boolean {
  if (
    !path.startsWith("/") ||
    path.startsWith("/dev/") ||
    path.includes(UNKNOWN_VALUE) ||
    /[*?[{]/.test(path)
  )
    return false;
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false; // no permission to look
  }
}

/** Formats a switchman call as the equivalent `signalbox run` line. */
function toSignalboxLine(call: SwitchmanCall): string {
  const { lock, group, command } = call;
  const [file = ""] = command;
  const named = lock === getBaseName(file) ? [] : ["--lock", lock ?? ""];
  const words = [
    "signalbox",
    "run",
    "-E",
    "0",
    ...(lock === undefined ? ["--no-lock"] : named),
    ...(group === undefined ? [] : ["-g", group]),
    ...listLeasesToHold(call).flatMap((lease) => ["--lease", lease]),
    "--",
    ...command,
  ];
  return quoteShellWords(words);
}

const DEBIAN_NAMES =
  "cron of Debian and Ubuntu ignores files in cron.d whose names have characters other than letters, digits, _ and -";
/** Names that dpkg, editors and people give to files that cron must ignore. */
const KEPT_ASIDE = /(?:\.(?:dpkg-\w+|ucf-\w+|bak|old|orig|sw[op]|disabled)|~)$/;

/** Warns about files of cron.d that cron ignores: by their name, their mode or their owner. */
function judgeCrontabFile(path: string): Finding[] {
  const [, name] = /(?:^|\/)cron\.d\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return [];
  const { hint, warning } = createFindingBuilder("crontab-file", path);
  const createFinding = KEPT_ASIDE.test(name) ? hint : warning;
  const isNamed = /^[\w-]+$/.test(name);
  const fault = findOwnershipFault(path);
  return [
    ...(isNamed ? [] : [createFinding(DEBIAN_NAMES, "rename it")]),
    ...(fault === undefined ? [] : [createFinding(fault, `chown root ${path}; chmod 644 ${path}`)]),
  ];
}

/** The group and the owner matter only where cron reads the file, not in a working copy of its source. */
function findOwnershipFault(path: string): string | undefined {
  const isInstalled = path.startsWith("/etc/");
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  const mode = (status.mode & 0o777).toString(8).padStart(4, "0");
  if ((status.mode & (isInstalled ? 0o022 : 0o002)) !== 0)
    return `cron ignores files that others than the owner can write; its mode is ${mode}`;
  if (isInstalled && status.uid !== 0)
    return `cron ignores files that do not belong to root; its owner is ${status.uid}`;
  return undefined;
}

/** Characters that word processors and web pages write for those of ASCII, and invisible ones. */
const TYPOGRAPHY: readonly [pattern: RegExp, name: string, instead: string][] = [
  [/[\u2018-\u201f\u2032-\u2036\u00ab\u00bb\u00b4]/u, "a typographic quote", "write ' or \" instead"],
  [/[\u2010-\u2015\u2212]/u, "a dash that is not a minus", "write - instead"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/u, "a blank that is not a space", "write a space instead"],
  [/[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/u, "an invisible character", "remove it"],
];

/** Finds characters that are not ASCII in the lines of a crontab. The shell gives none of them a meaning. */
function findForeignCharacters(path: string, text: string): Finding[] {
  const hasLocale = /^[ \t]*["']?(?:LANG|LC_ALL|LC_CTYPE)["']?[ \t]*=/m.test(text);
  return text.split("\n").flatMap((line, index): Finding[] => {
    if (/^[ \t]*(?:#|$)/.test(line)) return [];
    const about = createFindingBuilder("characters", `${path}:${index + 1}`);
    const mark = TYPOGRAPHY.find(([pattern]) => pattern.test(line));
    if (mark !== undefined) {
      const [pattern, name, remedy] = mark;
      const char = pattern.exec(line)?.[0] ?? "";
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const detail = `it has ${name} (U+${code}), which is part of a word for the shell and for cron`;
      return [about.warning(detail, remedy)];
    }
    const [char] = /[\u0080-\u{10ffff}]/u.exec(line) ?? [];
    if (char === undefined || hasLocale) return [];
    const detail = `it has characters that are not ASCII, such as ${quoteText(char)}; cron may start commands without a UTF-8 locale`;
    return [about.hint(detail, "write above the line: LANG=C.UTF-8")];
  });
}

/** Finds lines with the time, the user, the command and the variables of a line before them. */
function findRepeatedLines(path: string, jobs: readonly CronJob[]): Finding[] {
  const first = new Map<string, number>();
  return jobs.flatMap(({ line, schedule, user = "", command, input = "", variables }) => {
    const key = JSON.stringify([schedule.split(/\s+/), user, command, input, [...variables]]);
    const earlier = first.get(key);
    first.set(key, earlier ?? line);
    if (earlier === undefined) return [];
    const detail = `it is the same as line ${earlier}: cron starts the command twice`;
    return [createFindingBuilder("twice", `${path}:${line}`).warning(detail, "remove one")];
  });
}

/** Reports a user of a system crontab whom this host does not have. */
function findUnknownUser({ user }: CronJob, check: string): Finding[] {
  if (user === undefined || !existsSync("/etc/passwd")) return [];
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  if (users.some((line) => line.startsWith(`${user}:`))) return [];
  const detail = `user ${quoteText(user)} is not in /etc/passwd: unless a directory service has it, cron does not run the line`;
  return [createFindingBuilder("user", check).warning(detail, "correct the user, or create it on this host")];
}
