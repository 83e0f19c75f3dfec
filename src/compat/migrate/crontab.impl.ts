import { EXIT, UsageError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { getTextFlag } from "../../commands/command-line/flags.ts";
import { replaceFileText } from "../../commands/configure/write-file.ts";
import type { Call, CommandExecutor, CommandIo } from "../../commands/spec.ts";
import type { CrontabFormat } from "../../syntax/crontab.ts";
import { guessCrontabFormat } from "../../syntax/crontab-format.ts";
import type { HostFiles } from "./host-files.ts";
import { readCrontabText, readToolFiles } from "./input.ts";
import { type Migration, migrateCrontab } from "./migrate-crontab.ts";
import { buildMigrationDocument, formatCheckReport, formatRemarks } from "./report.ts";

export const execute: CommandExecutor = async (call, world) => {
  const [path = "-"] = call.args;
  checkFlags(call, path);
  const files = readToolFiles(call);
  const text = await readCrontabText(path, world);
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
  if (call.flags.check !== true && call.verbosity >= 0) world.writeError(formatRemarks(name, migration));
  if (call.verbosity >= 0) world.writeError(formatFileRemarks(files));
  if (call.flags["in-place"] && migration.text !== text) replaceFileText(path, migration.text);
  return printMigration(call, world, migration, { name, format, files });
};

function checkFlags({ flags }: Call, path: string): void {
  if (!flags["in-place"]) return;
  if (flags.check) throw new UsageError("--check changes nothing, but --in-place does; use one of them");
  if (path === "-") throw new UsageError("--in-place needs a file; got standard input");
}

/**
 * Returns the format of the crontab. A word taken for a user would stay before the lock, so a guess is not enough for
 * plain lines. @throws UsageError
 */
function determineFormat(call: Call, path: string, text: string): CrontabFormat {
  const given = getTextFlag(call, "format") as CrontabFormat | undefined;
  const { format, doubt } = guessCrontabFormat(path, text);
  if (given !== undefined || call.flags.plain !== true || doubt === undefined) return given ?? format;
  throw new UsageError(
    `${path === "-" ? "standard input" : clean(path)}: ${doubt}; give --format system or --format user`,
  );
}

function getProgramFlag(call: Call): string {
  const program = getTextFlag(call, "program") ?? "signalbox";
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
  call: Call,
  world: CommandIo,
  migration: Migration,
  { name, format, files }: MigrationInput,
): number {
  const { flags } = call;
  if (flags.json) {
    const document = buildMigrationDocument(migration, { file: name, format, read: files.readPaths });
    world.writeOutput(`${JSON.stringify(document, undefined, 2)}\n`);
  } else if (flags.check) world.writeOutput(formatCheckReport(name, migration));
  else if (!flags["in-place"]) world.writeOutput(migration.text);
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
