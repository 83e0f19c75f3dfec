import { userInfo } from "node:os";
import { basename } from "node:path";
import { EXIT, UsageError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import {
  buildImportMutation,
  buildImportsMutation,
  formatImportCounts,
  type ScheduleImport,
} from "../../operate/import-schedules.ts";
import { previewMutation } from "../../operate/schedule-mutation.ts";
import { validateName } from "../../protocol/names.ts";
import { checkZone } from "../../schedule/cron/zone.ts";
import type { CrontabFormat } from "../../syntax/crontab.ts";
import { guessCrontabFormat } from "../../syntax/crontab-format.ts";
import type { Call, CommandIo } from "../command.ts";
import { readDocumentText } from "../documents.ts";
import { formatJsonDocument } from "../json-output.ts";
import { type ActionOutcome, createFaultyOutcome } from "../outcome.ts";
import { createActionCommand, printOutcome, toScheduleChangeJson } from "../print-outcome.ts";
import { type ActionContext, createStoreCommand } from "../store-command.ts";
import { AmendmentCommand } from "./amendment-command.ts";
import { type CrontabImportOptions, convertCrontab } from "./crontab.ts";
import { formatScheduleChange, toScheduleChange } from "./describe-schedule.ts";
import { convertTable } from "./perfectsched.ts";
import type {
  ImportPerfectschedFlags,
  ReadingFlags,
  ScheduleDiffFlags,
  ScheduleImportFlags,
} from "./transfer.ts";

export const importSchedules = createActionCommand(async (context: ActionContext<ScheduleImportFlags>) => {
  const input = await readImportInput(context.call, context.io, context.clock.getWallTime());
  if ("faulty" in input) return input.faulty;
  const { wanted, notes } = input;
  return await new AmendmentCommand(context, {
    amendment: buildImportsMutation(wanted),
    notes,
    needsConfirmation: true,
    nothing: "the schedules are up to date: nothing to change",
    buildQuestion: (changes) =>
      `Import ${countDefinitions(wanted)} schedules (${formatImportCounts(changes)})?`,
  }).run();
});

function countDefinitions(imports: readonly ScheduleImport[]): number {
  return imports.reduce((sum, { definitions }) => sum + definitions.size, 0);
}

export const diffSchedules = createStoreCommand<ScheduleDiffFlags>(async (call, io, context) => {
  const input = await readImportInput(call, io, context.clock.getWallTime());
  if ("faulty" in input) return printOutcome(input.faulty, call, io);
  const { changes, revision } = await previewMutation(context, buildImportsMutation(input.wanted));
  const { notes } = input;
  if (call.flags.json)
    io.writeOutput(
      formatJsonDocument({
        revision,
        changes: changes.map((change) => toScheduleChangeJson(toScheduleChange(change))),
        notes,
      }),
    );
  else {
    for (const note of notes) context.printMessage(`note: ${note}`);
    for (const change of changes) io.writeOutput(`${clean(formatScheduleChange(change))}\n`);
    io.writeOutput(`${formatImportCounts(changes)}\n`);
  }
  return changes.length === 0 ? EXIT.ok : EXIT.undone;
});

/** The schedules in the files of an import, and notes about them. */
interface ImportInput {
  wanted: readonly ScheduleImport[];
  notes: readonly string[];
}

/**
 * Reads the files of an import.
 * @param now  wall clock, ms since the epoch
 * @returns the outcome if one has faults
 * @throws UsageError, SignalboxError 74
 */
async function readImportInput(
  call: Call<ReadingFlags>,
  io: CommandIo,
  now: number,
): Promise<ImportInput | { faulty: ActionOutcome }> {
  const [, ...files] = call.args;
  const wanted: ScheduleImport[] = [];
  const [faults, notes]: [string[], string[]] = [[], []];
  const met = new Map<string, number>();
  for (const file of files) {
    const text = await readDocumentText(io, file);
    const terms = { ...parseImportOptions(call, io, file, text), now };
    const { source } = terms;
    if (wanted.some((one) => one.source === source))
      throw new UsageError(
        `${file}: another file has the source ${quoteText(source)} already; import them one by one, each with --source`,
      );
    const converted = convertCrontab(text, terms, met);
    const name = file === "-" ? "standard input" : file;
    const formatRemark = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
    faults.push(...converted.faults.map(formatRemark));
    notes.push(...converted.notes.map(formatRemark));
    const { definitions } = converted;
    wanted.push({
      target: source.replace(":", " "),
      definitions,
      source,
      prunes: call.flags.prune === true,
    });
  }
  return faults.length > 0 ? { faulty: createImportFaults(faults) } : { wanted, notes };
}

function parseImportOptions(
  call: Call<ReadingFlags>,
  io: CommandIo,
  file: string,
  text: string,
): Omit<CrontabImportOptions, "now"> {
  const group = call.flags["host-group"];
  const zone = call.flags.timezone;
  const source = call.flags.source ?? (file === "-" ? "stdin" : basename(file));
  return {
    format: call.flags.format ?? chooseCrontabFormat(file, text),
    timezone: zone === undefined ? getHostZone() : checkZone(zone),
    source: `crontab:${validateName("source", source)}`,
    prefix: call.flags["prefix-id"] ?? "",
    group: group === undefined ? undefined : validateName("group", group),
    on: call.flags.on,
    workerUser: call.flags["worker-user"] ?? io.env.USER ?? userInfo().username,
    sudo: call.flags.sudo === true,
    catchup: call.flags.catchup ?? "latest",
    overlap: call.flags.overlap ?? "forbid",
  };
}

/**
 * Returns the format of a crontab. If both formats are possible, --format is required: the wrong one would take the
 * first word of a command for a user, or a user for the command.
 * @throws UsageError
 */
function chooseCrontabFormat(file: string, text: string): CrontabFormat {
  const { format, doubt } = guessCrontabFormat(file, text);
  if (doubt === undefined) return format;
  throw new UsageError(
    `${file === "-" ? "standard input" : file}: ${doubt}: add --format system or --format user`,
  );
}

/** Returns the time zone of this host, which cron uses too. */
function getHostZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Largest number of faults that are reported; further ones are only counted. */
const MANY = 50;

/** Creates the outcome of a file with faults. */
function createImportFaults(faults: readonly string[]): ActionOutcome {
  const more = faults.length > MANY ? [`and ${faults.length - MANY} more faults`] : [];
  return createFaultyOutcome({ revision: undefined, faults }, [
    ...faults.slice(0, MANY),
    ...more,
    "nothing was changed",
  ]);
}

export const importPerfectschedTable = createActionCommand(
  async (context: ActionContext<ImportPerfectschedFlags>) => {
    const { call, io } = context;
    const [file = "-"] = call.args;
    const text = await readDocumentText(io, file);
    const name = file === "-" ? "standard input" : file;
    const source = validateName("source", call.flags.source ?? "perfectsched");
    const terms = {
      type: call.flags.type,
      source,
      prefix: call.flags["prefix-id"] ?? "",
      now: context.clock.getWallTime(),
    };
    const { definitions, positions, faults, notes } = convertTable(text, terms);
    const formatRemark = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
    if (faults.length > 0)
      return createImportFaults([...faults].sort((a, b) => a.line - b.line).map(formatRemark));
    return await new AmendmentCommand(context, {
      amendment: buildImportMutation({
        definitions,
        positions,
        source,
        prunes: call.flags.prune === true,
        target: `schedules of ${basename(name)}`,
      }),
      notes: notes.map(formatRemark),
      needsConfirmation: true,
      nothing: "the schedules are up to date: nothing to change",
      buildQuestion: (changes) => `Import ${definitions.size} schedules (${formatImportCounts(changes)})?`,
    }).run();
  },
);
