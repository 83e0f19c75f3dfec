import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Call, CommandExecutor, CommandIo } from "../../cli/frame/command.ts";
import { replaceFileText } from "../../cli/frame/documents.ts";
import { findBackgroundInText } from "../../cli/syntax/background-process.ts";
import { findCommandName, removeReleaseNames } from "../../cli/syntax/command-name.ts";
import {
  type CronJob,
  type CrontabFault,
  type CrontabFormat,
  guessCrontabFormat,
  parseCrontab,
} from "../../cli/syntax/crontab.ts";
import { findHostMaintenance } from "../../cli/syntax/host-maintenance.ts";
import { findLockingPrograms } from "../../cli/syntax/line-commands.ts";
import { hasToolName } from "../../cli/syntax/lock-tools.ts";
import { parseShellCommands, type ShellCommand } from "../../cli/syntax/shell-parser.ts";
import { ASSIGNMENT } from "../../cli/syntax/shell-wrappers.ts";
import { describeFileError, EXIT, SignalboxError, UsageError } from "../../core/base/errors.ts";
import { formatLineRemarks } from "../../core/base/line-remarks.ts";
import { quotePosixWord } from "../../core/base/shell.ts";
import { clean, pluralize, quoteText } from "../../core/base/text.ts";
import type { ToolFiles } from "../front-end.ts";
import { SHORT_JOB } from "../lock-tools.ts";
import type { MigrateCrontabFlags } from "./crontab.ts";
import {
  applyEdits,
  type LineReport,
  type Migration,
  type MigrationOptions,
  type TextEdit,
  UntranslatableError,
} from "./migration.ts";
import { rewriteShell } from "./shell-line.ts";
import { findWatchers } from "./watchers.ts";

export const execute: CommandExecutor<MigrateCrontabFlags> = async (call, io) => {
  const [path = "-"] = call.args;
  checkFlags(call, path);
  const files = readToolFiles(call);
  const text = await readCrontabText(path, io);
  const format = determineFormat(call, path, text);
  const migration = migrateCrontab(text, {
    format,
    files,
    plain: call.flags.plain === true,
    around: call.flags.around === true,
    noConnection: call.flags["no-connection"] === true,
    program: getProgramFlag(call),
  });
  const name = path === "-" ? "stdin" : path;
  if (call.flags.check !== true && call.verbosity >= 0) io.writeError(formatRemarks(name, migration));
  if (call.verbosity >= 0) io.writeError(formatFileRemarks(files));
  if (call.flags["in-place"] && migration.text !== text) replaceFileText(path, migration.text);
  return printMigration(call, io, migration, { name, format, files });
};

function checkFlags({ flags }: Call<MigrateCrontabFlags>, path: string): void {
  if (!flags["in-place"]) return;
  if (flags.check) throw new UsageError("--check changes nothing, but --in-place does; use one of them");
  if (path === "-") throw new UsageError("--in-place needs a file; got standard input");
}

/**
 * Returns the format of the crontab. A word taken for a user would stay before the lock, so a guess is not enough for
 * plain lines. @throws UsageError
 */
function determineFormat(call: Call<MigrateCrontabFlags>, path: string, text: string): CrontabFormat {
  const { format: given, plain } = call.flags;
  const { format, doubt } = guessCrontabFormat(path, text);
  if (given !== undefined || !plain || doubt === undefined) return given ?? format;
  throw new UsageError(
    `${path === "-" ? "standard input" : clean(path)}: ${doubt}; give --format system or --format user`,
  );
}

function getProgramFlag(call: Call<MigrateCrontabFlags>): string {
  const program = call.flags.program ?? "signalbox";
  if (/^[\w./+-]*\bsignalbox[\w.+-]*$/.test(program)) return program;
  throw new UsageError(
    `--program ${quoteText(program)} is not a path of signalbox, such as /usr/local/bin/signalbox`,
  );
}

function printMigration(
  call: Call<MigrateCrontabFlags>,
  io: CommandIo,
  migration: Migration,
  { name, format, files }: { name: string; format: CrontabFormat; files: HostFiles },
): number {
  const { flags } = call;
  if (flags.json) {
    const document = buildMigrationDocument(migration, { file: name, format, read: files.readPaths });
    io.writeOutput(`${JSON.stringify(document, undefined, 2)}\n`);
  } else if (flags.check) io.writeOutput(formatCheckReport(name, migration));
  else if (!flags["in-place"]) io.writeOutput(migration.text);
  const isDone = migration.lines.every(
    ({ before, after, reason }) => before === after && reason === undefined,
  );
  return flags.check && !isDone ? EXIT.undone : EXIT.ok;
}

function formatFileRemarks({ readPaths, unreadable }: HostFiles): string {
  return [
    ...readPaths.map((path) => `${clean(path)}: read, for settings that the lines leave to it\n`),
    ...unreadable.map((path) => `${clean(path)}: cannot be read; its settings were not considered\n`),
  ].join("");
}

/** Formats the notes about a rewritten crontab, one per line. */
function formatRemarks(file: string, { lines }: Migration): string {
  const remarks = lines.flatMap((report) =>
    listLineRemarks(report).map((detail) => ({ line: report.line, detail })),
  );
  return formatLineRemarks(clean(file), remarks)
    .map((remark) => `${remark}\n`)
    .join("");
}

function listLineRemarks({ notes, reason }: LineReport): string[] {
  return [
    ...notes.map((note) => clean(note)),
    ...(reason === undefined ? [] : [`unchanged: ${clean(reason)}`]),
  ];
}

/** Formats what would change in a crontab. */
function formatCheckReport(file: string, migration: Migration): string {
  const { lines } = migration;
  const changed = lines.filter(({ before, after }) => before !== after);
  const kept = lines.filter(({ reason }) => reason !== undefined);
  const changes = changed.map(({ line, after }) => `${clean(file)}:${line}: would become: ${clean(after)}\n`);
  const sum = `${pluralize(changed.length, "line")} would change, ${pluralize(kept.length, "line")} cannot be translated`;
  return `${changes.join("")}${formatRemarks(file, migration)}${changed.length + kept.length === 0 ? "nothing to do" : sum}\n`;
}

/** Builds the JSON document: the lines that change, cannot be translated or have notes, and the whole new text. */
function buildMigrationDocument(
  { lines, text }: Migration,
  about: { file: string; format: string; read: readonly string[] },
): object {
  return {
    ...about,
    lines: lines.map(({ line, before, after, tools, notes, reason }) => ({
      line,
      state: before === after ? (reason === undefined ? "unchanged" : "kept") : "changed",
      tools,
      before,
      after,
      notes,
      reason: reason ?? null,
    })),
    text,
  };
}

/** Reads a crontab. @param path  `-` for standard input @throws SignalboxError 74 if it cannot be read as text */
async function readCrontabText(path: string, io: CommandIo): Promise<string> {
  if (path === "-") return checkText("standard input", await io.readInput());
  return checkText(quoteText(path), readTextFile(path));
}

/** Checks that a text is valid UTF-8 without zero bytes, because every byte must be written back unchanged. */
function checkText(what: string, text: string): string {
  const at = text.indexOf("\ufffd");
  if (at >= 0) {
    const line = text.slice(0, at).split("\n").length;
    throw new SignalboxError(
      EXIT.io,
      `${what}, line ${line}: it is not UTF-8; convert it first, such as with iconv -f latin1 -t utf-8`,
    );
  }
  if (text.includes("\0"))
    throw new SignalboxError(EXIT.io, `${what} is not a text file: it contains zero bytes`);
  return text;
}

function readTextFile(path: string): string {
  try {
    const stat = statSync(path);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) throw new Error("it is a device");
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `${quoteText(path)} cannot be read: ${describeFileError(cause)}`, {
      cause,
    });
  }
}

/**
 * Reads the configuration files of the tools: the named ones, otherwise those of this host. @throws UsageError,
 * SignalboxError 74
 */
function readToolFiles(call: Call<MigrateCrontabFlags>): HostFiles {
  const files = new HostFiles();
  for (const path of call.flags["tool-config"] ?? []) {
    const text = readTextFile(path);
    const place = /^\s*\{/.test(text) ? "/etc/switchman.conf" : "/etc/cronlock.conf";
    if (files.has(place))
      throw new UsageError(`--tool-config ${quoteText(path)}: a file for ${place} is given already`);
    files.addNamed(place, text, path);
  }
  return files;
}

/** Maximum size of a configuration file, in bytes. A longer file is not one. */
const LONGEST_FILE = 1_000_000;

/** Configuration files of this host, by path, read on first access. */
class HostFiles implements ToolFiles {
  /** Paths that were read, and paths that could not be. */
  readonly readPaths: string[] = [];
  readonly unreadable: string[] = [];
  readonly #texts = new Map<string, string | undefined>();

  /** @param place  the path that the text stands for @param path  the file that it comes from */
  addNamed(place: string, text: string, path: string): void {
    this.#texts.set(place, text);
    this.readPaths.push(path);
  }

  has(path: string): boolean {
    return this.#texts.has(path);
  }

  get(path: string): string | undefined {
    if (!this.#texts.has(path) && isAbsolute(path)) this.#texts.set(path, this.#load(path));
    return this.#texts.get(path);
  }

  #load(path: string): string | undefined {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      if (!stat.isFile() || stat.size > LONGEST_FILE) throw new Error("it is not a file of settings");
      const text = readFileSync(path, "utf8");
      this.readPaths.push(path);
      return text;
    } catch {
      this.unreadable.push(path);
      return undefined;
    }
  }
}

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
  const wrong = faults.find(({ isFatal, isOfFile }) => isFatal && !isOfFile);
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

/** Puts a line behind a lock: its only command, with what watches it, or the whole line in a shell. */
function buildPlainEdits(
  { text, commands }: PlainLine,
  lock: string,
  program: string,
  { variables }: CronJob,
): { edits: readonly TextEdit[]; notes: readonly string[] } {
  const run = `${program} run --lock ${quotePosixWord(lock)}`;
  const watchers = findWatchers(text, commands);
  const job = watchers && commands[watchers.job];
  if (job !== undefined && watchers?.first === 0) {
    const kept = [...commands.slice(0, watchers.job), { ...job, next: "" as const }];
    const at = findOnlyCommand(text, kept);
    const words = watchers.options.map(quotePosixWord).join(" ");
    if (at !== undefined) {
      const start = { start: at, end: at, text: `${run} ${words} -- ` };
      return { edits: [start, ...watchers.edits], notes: watchers.notes };
    }
  }
  const at = findOnlyCommand(text, commands);
  if (at !== undefined) return { edits: [{ start: at, end: at, text: `${run} -- ` }], notes: [] };
  const shell = variables.get("SHELL") || "/bin/sh";
  const nested = `${run} -- ${quotePosixWord(shell)} -c ${quotePosixWord(text)}`;
  return { edits: [{ start: 0, end: text.length, text: nested }], notes: [] };
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
    ` find its lock taken skip it; ${SHORT_JOB}`;
  const { edits, notes } = buildPlainEdits(plain, lock, program, job);
  return { after: applyEdits(before, job.start, edits), notes: [note, ...notes] };
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
