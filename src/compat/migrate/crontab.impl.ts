import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { describeFileError, EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { clean, formatShortList, pluralize, quoteText } from "../../base/text.ts";
import type { Call, CommandExecutor, CommandIo } from "../../commands/command.ts";
import { replaceFileText } from "../../commands/documents.ts";
import type { CrontabFormat } from "../../syntax/crontab.ts";
import { guessCrontabFormat } from "../../syntax/crontab-format.ts";
import type { ToolFiles } from "../translated-run.ts";
import type { MigrateCrontabFlags } from "./crontab.ts";
import { migrateCrontab } from "./migrate-crontab.ts";
import type { LineReport, Migration } from "./migration.ts";

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
  const lines = others.map(({ line }) => String(line));
  return ` (and in line${others.length === 1 ? "" : "s"} ${formatShortList(lines, 10)})`;
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
