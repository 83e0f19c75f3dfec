import { createHash } from "node:crypto";
import { quotePosixWord } from "../../base/shell.ts";
import { findCommandName, removeReleaseNames } from "../../syntax/command-name.ts";
import { type CronJob, type CrontabFault, parseCrontab } from "../../syntax/crontab.ts";
import { findHostMaintenance } from "../../syntax/host-maintenance.ts";
import { findLockingPrograms } from "../../syntax/line-commands.ts";
import { hasToolName } from "../../syntax/lock-tools.ts";
import { parseShellCommands, type ShellCommand } from "../../syntax/shell-parser.ts";
import { ASSIGNMENT } from "../../syntax/shell-wrappers.ts";
import { findBackgroundInText } from "../background-process.ts";
import {
  applyEdits,
  type LineReport,
  type Migration,
  type MigrationOptions,
  type TextEdit,
  UntranslatableError,
} from "./migration.ts";
import { rewriteShell } from "./shell-line.ts";

/** Rewrites a crontab for `signalbox run`. The result does not change when it is rewritten again. */
export function migrateCrontab(text: string, options: MigrationOptions): Migration {
  const lines = text.split("\n");
  const { jobs, faults } = parseCrontab(text, options.format);
  const readings = new Map(jobs.map((job) => [job.line, readJob(job, lines[job.line - 1] ?? "", options)]));
  const names = assignLockNames([...readings.values()].flatMap(({ plain }) => plain ?? []));
  const reports = lines.flatMap((before, index) => {
    const line = index + 1;
    const found = faults.filter((fault) => fault.line === line);
    return reportLine({ line, before, faults: found }, readings.get(line), options, names) ?? [];
  });
  const after = new Map(reports.map((report) => [report.line, report.after]));
  return { text: lines.map((before, index) => after.get(index + 1) ?? before).join("\n"), lines: reports };
}

/** What becomes of a job. */
interface JobReading extends Pick<LineReport, "after" | "tools" | "notes" | "reason"> {
  job: CronJob;
  /** It gets a lock, whose name depends on the other lines. */
  plain?: PlainLine | undefined;
}

function readJob(job: CronJob, before: string, options: MigrationOptions): JobReading {
  try {
    const { edits, tools, notes } = rewriteShell(job.command, { ...options, variables: job.variables });
    if (tools.length > 0) return { job, after: applyEdits(before, job.start, edits), tools, notes };
    checkKnown(job);
    return { job, after: before, tools, notes, ...(options.plain && readPlainLine(job)) };
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    return { job, after: before, tools: [], notes: [], reason: error.message };
  }
}

/**
 * Reports a line that changes, cannot be translated, or has notes.
 * @param faults  what cron would not accept in the line
 */
function reportLine(
  { line, before, faults }: { line: number; before: string; faults: readonly CrontabFault[] },
  reading: JobReading | undefined,
  options: MigrationOptions,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  const kept = { line, before, after: before, tools: [], notes: [] };
  const wrong = faults.find(({ isFatal, isUnfinished }) => isFatal && !isUnfinished);
  if (options.plain && wrong !== undefined) return { ...kept, reason: wrong.detail };
  const details = faults.map(({ detail }) => detail);
  const [fault] = details;
  const isUnread = fault !== undefined && hasToolName(before);
  if (reading === undefined || before.endsWith("\r"))
    return isUnread ? { ...kept, reason: fault } : undefined;
  const { job, plain, after, tools, notes, reason } = reading;
  if (reason !== undefined) return { ...kept, reason };
  if (plain !== undefined) {
    const lock = names.get(plain.text) ?? plain.name;
    return { ...kept, ...lockPlainLine(before, job, plain, lock, options.program) };
  }
  // A field is missing: the tool's name was taken for part of the schedule.
  const isPlain = options.plain && tools.length === 0;
  if (isUnread && !isPlain && !hasToolName(job.command)) return { ...kept, reason: fault };
  const said = after === before ? notes : [...notes, ...details];
  return after === before && said.length === 0 ? undefined : { ...kept, after, tools, notes: said };
}

/** Checks a line for unknown tools that may hold a lock. @throws UntranslatableError */
function checkKnown({ command, variables }: CronJob): void {
  const unknown = findLockingPrograms(command, variables).find(({ isKnown }) => !isKnown);
  if (unknown === undefined) return;
  throw new UntranslatableError(
    `${unknown.name} looks like an unknown tool that takes a lock; if it does, write the line by hand:` +
      " signalbox run --lock NAME -- COMMAND",
  );
}

/** A line without a lock, and a name for its lock. */
interface PlainLine {
  text: string;
  commands: readonly ShellCommand[];
  name: string;
}

/** Shell builtins and keywords, which only the shell itself can run. */
const BUILTINS =
  /^(?:\[\[?|\.|:|cd|test|source|export|exec|eval|set|unset|umask|ulimit|trap|wait|exit|return|read|alias|shopt|for|case|function|local|command|time)$/;

/** Parses a line without a lock for the name of one. @throws UntranslatableError if it cannot be put behind a lock */
function parsePlainLine({ command: text, variables }: CronJob): PlainLine | undefined {
  const commands = parseShellCommands(text, variables);
  if ("fault" in commands) throw new UntranslatableError(`the shell would refuse it: ${commands.fault}`);
  const { value } = commands;
  if (value.length === 0) return undefined;
  const left = findBackgroundInText(text);
  if (left !== undefined)
    throw new UntranslatableError(
      `it leaves ${left.what} running in the background, which the lock would not cover`,
    );
  return {
    text,
    commands: value,
    name: findLockName(value) ?? `cron-${computeDigest(text)}`,
  };
}

/**
 * Assigns lock names. Equal commands get the same lock; different commands with the same name get the line's digest
 * as suffix.
 */
function assignLockNames(lines: readonly PlainLine[]): ReadonlyMap<string, string> {
  const texts = new Map<string, Set<string>>();
  for (const { name, text } of lines)
    texts.set(name, (texts.get(name) ?? new Set()).add(removeReleaseNames(text.trim())));
  return new Map(
    lines.map(({ name, text }) => [
      text,
      (texts.get(name)?.size ?? 1) > 1 ? `${name}-${computeDigest(text)}` : name,
    ]),
  );
}

/** Puts a line behind a lock: its only command, or the whole line in a shell. */
function buildPlainEdit(
  { text, commands }: PlainLine,
  lock: string,
  program: string,
  { variables }: CronJob,
): TextEdit {
  const run = `${program} run --lock ${quotePosixWord(lock)} --`;
  const at = findOnlyCommand(text, commands);
  if (at !== undefined) return { start: at, end: at, text: `${run} ` };
  const shell = variables.get("SHELL") || "/bin/sh";
  return {
    start: 0,
    end: text.length,
    text: `${run} ${quotePosixWord(shell)} -c ${quotePosixWord(text)}`,
  };
}

/**
 * Returns the start of the line's only command, after `cd x &&` and its own variables, or undefined if the line has
 * more commands.
 */
function findOnlyCommand(text: string, commands: readonly ShellCommand[]): number | undefined {
  const job = commands.at(-1);
  const before = commands.slice(0, -1);
  if (job === undefined || job.next !== "") return undefined;
  if (!before.every(({ words, next }) => words[0] === "cd" && next === "&&")) return undefined;
  const first = job.words.findIndex((word) => !ASSIGNMENT.test(word));
  const start = job.spans[first]?.start;
  const end = before.at(-1)?.spans.at(-1)?.end ?? 0;
  if (first < 0 || start === undefined || BUILTINS.test(job.words[first] ?? "")) return undefined;
  const between = text.slice(end, job.spans[0]?.start);
  return /^[ \t]*(&&)?[ \t]*$/.test(between) ? start : undefined;
}

function findLockName(commands: readonly ShellCommand[]): string | undefined {
  const name = findCommandName(commands);
  return name !== undefined && /^[\p{L}\p{N} ._+@-]+$/u.test(name) ? name : undefined;
}

function computeDigest(text: string): string {
  return createHash("sha256").update(removeReleaseNames(text.trim())).digest("hex").slice(0, 8);
}

/** Reads a line without a lock. @throws UntranslatableError if it cannot have one */
function readPlainLine(job: CronJob): { plain?: PlainLine | undefined; notes: readonly string[] } {
  if (/\bsignalbox\b/.test(job.command)) return { notes: [] };
  const ofHost = findHostNote(job);
  return ofHost === undefined ? { plain: parsePlainLine(job), notes: [] } : { notes: [ofHost] };
}

/** Puts a line behind a lock. @param before  the whole line */
function lockPlainLine(
  before: string,
  job: CronJob,
  plain: PlainLine,
  lock: string,
  program: string,
): Pick<LineReport, "after" | "notes"> {
  const note =
    `${findOwnLockNote(plain.text) ?? "it had no lock; now"} hosts that have this line run it one at a time, and those that` +
    ` find lock ${lock} taken skip it; a short job also needs --grace 50s, or a host whose clock is late runs it again`;
  return { after: applyEdits(before, job.start, [buildPlainEdit(plain, lock, program, job)]), notes: [note] };
}

/** Returns a note for a line that every host must run itself. */
function findHostNote({ schedule, command, variables }: CronJob): string | undefined {
  if (schedule.toLowerCase() === "@reboot")
    return "it runs at the boot of each host, and stays without a lock";
  const work = findHostMaintenance(command, variables);
  return work && `it seems to maintain the host itself (${work}), and stays without a lock`;
}

/** Returns a note about a hand-made lock in the line, which stays as it is. */
function findOwnLockNote(text: string): string | undefined {
  const [found] = /\b(?:pgrep|pidof)\b|\S+\.(?:lock|lck|pid)\b/.exec(text) ?? [];
  return found && `its use of ${found} stays, and counts for each host alone; now also`;
}
