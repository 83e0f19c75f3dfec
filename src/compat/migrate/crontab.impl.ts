import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { describeFileError, EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { replaceFileText } from "../../commands/configure/documents.ts";
import type { Call, CommandExecutor, CommandIo } from "../../commands/spec.ts";
import {
  type CronJob,
  type Crontab,
  type CrontabFormat,
  findCommandStart,
  parseCrontab,
} from "../../syntax/crontab.ts";
import { guessCrontabFormat } from "../../syntax/crontab-format.ts";
import { findHostMaintenance } from "../../syntax/host-maintenance.ts";
import { findLockTools } from "../../syntax/lock-tools.ts";
import type { MigrateCrontabFlags } from "./crontab.ts";
import {
  applyEdits,
  decodeCommand,
  type LineReport,
  type Migration,
  type MigrationOptions,
  UntranslatableError,
} from "./migration.ts";
import { assignLockNames, buildPlainReport, type PlainLine, parsePlainLine } from "./plain-line.ts";
import { rewriteShell } from "./shell-line.ts";
import { hasToolName } from "./tools.ts";

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
  const given = call.flags.format as CrontabFormat | undefined;
  const { format, doubt } = guessCrontabFormat(path, text);
  if (given !== undefined || call.flags.plain !== true || doubt === undefined) return given ?? format;
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

interface MigrationInput {
  name: string;
  format: CrontabFormat;
  files: HostFiles;
}

function printMigration(
  call: Call<MigrateCrontabFlags>,
  io: CommandIo,
  migration: Migration,
  { name, format, files }: MigrationInput,
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

/** Formats the notes about a rewritten crontab, one per line. Equal notes of several lines are written once. */
function formatRemarks(file: string, { lines }: Migration): string {
  const remarks = lines.flatMap((report) =>
    listLineRemarks(report).map((text) => ({ line: report.line, text })),
  );
  return [...Map.groupBy(remarks, ({ text }) => text).values()]
    .map(([first, ...others]) => `${clean(file)}:${first?.line}: ${first?.text}${formatOtherLines(others)}\n`)
    .join("");
}

function listLineRemarks({ notes, reason }: LineReport): string[] {
  return [
    ...notes.map((note) => clean(note)),
    ...(reason === undefined ? [] : [`unchanged: ${clean(reason)}`]),
  ];
}

/** Lists the other lines with a note: ` (and in lines 4, 7)`. */
function formatOtherLines(others: readonly { line: number }[]): string {
  if (others.length === 0) return "";
  const shown = others.slice(0, 10).map(({ line }) => line);
  const more = others.length > shown.length ? ` and ${others.length - shown.length} more` : "";
  return ` (and in line${others.length === 1 ? "" : "s"} ${shown.join(", ")}${more})`;
}

/** Formats what would change in a crontab. */
function formatCheckReport(file: string, migration: Migration): string {
  const { lines } = migration;
  const changed = lines.filter(({ before, after }) => before !== after);
  const kept = lines.filter(({ reason }) => reason !== undefined);
  const changes = changed.map(({ line, after }) => `${clean(file)}:${line}: would become: ${clean(after)}\n`);
  const sum = `${formatLineCount(changed.length)} would change, ${formatLineCount(kept.length)} cannot be translated`;
  return `${changes.join("")}${formatRemarks(file, migration)}${changed.length + kept.length === 0 ? "nothing to do" : sum}\n`;
}

function formatLineCount(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
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

/** Rewrites a crontab for `signalbox run`. The result does not change when it is rewritten again. */
export function migrateCrontab(text: string, options: MigrationOptions): Migration {
  const lines = text.split("\n");
  const crontab = parseCrontab(text, options.format);
  const jobs = new Map(crontab.jobs.map((job) => [job.line, job]));
  const names = options.plain ? assignLockNames(findPlainLines(crontab, options)) : new Map<string, string>();
  const reports = lines.flatMap((before, index) => {
    const line = index + 1;
    const job = jobs.get(line);
    const found = crontab.faults.filter((fault) => fault.line === line);
    const faults = found.map(({ detail }) => detail);
    const wrong = found.find(({ isFatal, isUnfinished }) => isFatal && !isUnfinished);
    if (options.plain && wrong !== undefined)
      return [{ line, before, after: before, tools: [], notes: [], reason: wrong.detail }];
    return job === undefined
      ? reportUnreadLine(line, before, faults)
      : (reportJobLine(line, before, job, faults, options, names) ?? []);
  });
  const after = new Map(reports.map((report) => [report.line, report.after]));
  return { text: lines.map((before, index) => after.get(index + 1) ?? before).join("\n"), lines: reports };
}

/** Reports lines that cron itself would not accept. */
function reportUnreadLine(line: number, before: string, faults: readonly string[]): LineReport[] {
  const [reason] = faults;
  if (reason === undefined || !hasToolName(before)) return [];
  return [{ line, before, after: before, tools: [], notes: [], reason }];
}

function reportJobLine(
  line: number,
  before: string,
  job: CronJob,
  faults: readonly string[],
  options: MigrationOptions,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  const kept = { line, before, after: before, tools: [], notes: [] };
  const from = findCommandStart(before, options.format);
  try {
    if (before.endsWith("\r") && hasToolName(before))
      throw new UntranslatableError(faults[0] ?? "it ends in a carriage return");
    if (from === undefined) return undefined;
    const command = decodeCommand(before, from);
    const { edits, tools, notes } = rewriteShell(command.text, { ...options, variables: job.variables });
    if (tools.length === 0) checkKnown(command.text, job);
    if (tools.length === 0 && options.plain) return buildPlainReport(kept, job, command, options, names);
    // A field is missing: the tool's name was taken for part of the schedule.
    if (faults[0] !== undefined && hasToolName(before) && !hasToolName(command.text))
      return { ...kept, reason: faults[0] };
    const after = applyEdits(before, command, edits);
    const said = after === before ? notes : [...notes, ...faults];
    return after === before && said.length === 0 ? undefined : { ...kept, after, tools, notes: said };
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    return { ...kept, reason: error.message };
  }
}

/** Checks a line for unknown tools that may hold a lock. @throws UntranslatableError */
function checkKnown(text: string, { variables }: CronJob): void {
  const unknown = findLockTools(text, variables).find(({ isKnown }) => !isKnown);
  if (unknown === undefined) return;
  throw new UntranslatableError(
    `${unknown.name} looks like an unknown tool that takes a lock; if it does, write the line by hand:` +
      " signalbox run --lock NAME -- COMMAND",
  );
}

/** Lists the lines that would get a lock, so that lock names are unique. */
function findPlainLines({ jobs }: Crontab, options: MigrationOptions): PlainLine[] {
  return jobs.flatMap(({ command, variables, schedule }) => {
    try {
      const { tools } = rewriteShell(command, { ...options, variables });
      const isKept =
        schedule.toLowerCase() === "@reboot" || findHostMaintenance(command, variables) !== undefined;
      if (tools.length > 0 || isKept) return [];
      return parsePlainLine(command, variables) ?? [];
    } catch (error) {
      if (error instanceof UntranslatableError) return [];
      throw error;
    }
  });
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
    if (files.namedPaths.has(place))
      throw new UsageError(`--tool-config ${quoteText(path)}: a file for ${place} is given already`);
    files.addNamed(place, text, path);
  }
  return files;
}

/** Maximum size of a configuration file, in bytes. A longer file is not one. */
const LONGEST_FILE = 1_000_000;

/** Configuration files of this host, by path, read on first access. */
class HostFiles extends Map<string, string> {
  /** Paths that were read, and paths that could not be. */
  readonly readPaths: string[] = [];
  readonly unreadable: string[] = [];
  readonly #tried = new Set<string>();

  /** Paths whose text comes from another file. */
  readonly namedPaths = new Set<string>();

  addNamed(place: string, text: string, path: string): void {
    this.set(place, text);
    this.namedPaths.add(place);
    this.readPaths.push(path);
  }

  override get(path: string): string | undefined {
    if (!super.has(path) && isAbsolute(path) && !this.#tried.has(path)) this.#load(path);
    return super.get(path);
  }

  override has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  #load(path: string): void {
    this.#tried.add(path);
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return;
      if (!stat.isFile() || stat.size > LONGEST_FILE) throw new Error("it is not a file of settings");
      this.set(path, readFileSync(path, "utf8"));
      this.readPaths.push(path);
    } catch {
      this.unreadable.push(path);
    }
  }
}
