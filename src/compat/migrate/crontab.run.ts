import { EXIT, UsageError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import { replaceWith } from "../../commands/configure/write-file.ts";
import { textFlag } from "../../commands/flags.ts";
import type { Call, Execute, Surroundings } from "../../commands/spec.ts";
import { type CrontabFormat, crontabFormat } from "../../fleet/crontab.ts";
import { type Migration, migrateCrontab } from "./crontab.ts";
import type { HostFiles } from "./host-files.ts";
import { crontabText, toolFiles } from "./input.ts";
import { documentOf, remarks, reportLines } from "./report.ts";

export const execute: Execute = async (call, world) => {
  const [path = "-"] = call.args;
  checkFlags(call, path);
  const files = toolFiles(call);
  const text = await crontabText(path, world);
  const format = formatOf(call, path, text);
  const migration = migrateCrontab(text, {
    ...{ format, files },
    plain: call.flags.plain === true,
    around: call.flags.around === true,
    noConnection: call.flags["no-connection"] === true,
    program: programOf(call),
  });
  const name = path === "-" ? "stdin" : path;
  if (call.flags.check !== true && call.verbosity >= 0) world.err(remarks(name, migration));
  if (call.verbosity >= 0) world.err(fileLines(files));
  if (call.flags["in-place"] && migration.text !== text) replaceWith(path, migration.text);
  return told(call, world, migration, { name, format, files });
};

function checkFlags({ flags }: Call, path: string): void {
  if (!flags["in-place"]) return;
  if (flags.check) throw new UsageError("--check changes nothing, --in-place does; leave one of them out");
  if (path === "-") throw new UsageError("--in-place needs a file; standard input is none");
}

/** Its path may tell. What is taken for a user would stay before the lock, so for plain lines a guess is not enough. */
function formatOf(call: Call, path: string, text: string): CrontabFormat {
  const given = textFlag(call, "format") as CrontabFormat | undefined;
  const guess = crontabFormat(path, text);
  if (given !== undefined || call.flags.plain !== true || guess === crontabFormat(path, ""))
    return given ?? guess;
  throw new UsageError(
    `${path === "-" ? "standard input" : clean(path)}: its commands begin with what may be a user or not: say --format system, or --format user`,
  );
}

function programOf(call: Call): string {
  const program = textFlag(call, "program") ?? "signalbox";
  if (/^[\w./+-]*\bsignalbox[\w.+-]*$/.test(program)) return program;
  throw new UsageError(
    `--program ${quoted(program)} is not the path of a signalbox, such as /usr/local/bin/signalbox`,
  );
}

interface Told {
  name: string;
  format: CrontabFormat;
  files: HostFiles;
}

function told(call: Call, world: Surroundings, migration: Migration, { name, format, files }: Told): number {
  const { flags } = call;
  if (flags.json) {
    const document = documentOf(migration, { file: name, format, read: files.read });
    world.out(`${JSON.stringify(document, undefined, 2)}\n`);
  } else if (flags.check) world.out(reportLines(name, migration));
  else if (!flags["in-place"]) world.out(migration.text);
  const isDone = migration.lines.every(
    ({ before, after, reason }) => before === after && reason === undefined,
  );
  return flags.check && !isDone ? EXIT.undone : EXIT.ok;
}

function fileLines({ read, unreadable }: HostFiles): string {
  return [
    ...read.map((path) => `${clean(path)}: read, for what the lines leave to it\n`),
    ...unreadable.map((path) => `${clean(path)}: cannot be read; what it says was not considered\n`),
  ].join("");
}
