import { userInfo } from "node:os";
import { basename } from "node:path";
import { UsageError } from "../../../core/base/errors.ts";
import { formatLineRemarks, type LineRemark } from "../../../core/base/line-remarks.ts";
import { quoteText } from "../../../core/base/text.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { checkZone } from "../../../schedule/cron/offsets.ts";
import { applyInParts } from "../../../site/operate/apply-in-parts.ts";
import {
  buildImportMutation,
  buildImportsMutation,
  formatImportCounts,
  type ScheduleImport,
} from "../../../site/operate/import-schedules.ts";
import type { ScheduleMutation } from "../../../site/operate/schedule-mutation.ts";
import { createActionCommand, createDiffCommand } from "../../frame/action.ts";
import type { ActionFlags } from "../../frame/command-line/flags.ts";
import { formatDocumentName, readDocumentText } from "../../frame/documents.ts";
import { type ActionOutcome, createFaultyOutcome } from "../../frame/outcome.ts";
import type { ActionContext, CommandContext } from "../../frame/store-command.ts";
import { type CrontabFormat, guessCrontabFormat } from "../../syntax/crontab.ts";
import { amendSchedules } from "./amend-schedules.ts";
import { type CrontabImportOptions, convertCrontab } from "./crontab.ts";
import { convertTable } from "./perfectsched.ts";
import type {
  ImportPerfectschedFlags,
  ReadingFlags,
  ScheduleDiffFlags,
  ScheduleImportFlags,
} from "./transfer.ts";

export const importSchedules = createActionCommand<ScheduleImportFlags>(importCrontabs);
export const diffSchedules = createDiffCommand<ScheduleDiffFlags>(importCrontabs);

async function importCrontabs(
  context: CommandContext<ReadingFlags & Partial<ActionFlags>>,
): Promise<ActionOutcome> {
  const input = await readImportInput(context);
  if ("faulty" in input) return input.faulty;
  const { wanted, notes } = input;
  const count = wanted.reduce((sum, { definitions }) => sum + definitions.size, 0);
  return await importWanted(context, { amendment: buildImportsMutation(wanted), notes, count });
}

/** Changes schedules as files say. @param input.count  the number of schedules in them */
function importWanted(
  context: ActionContext,
  { amendment, notes, count }: { amendment: ScheduleMutation; notes: readonly string[]; count: number },
): Promise<ActionOutcome> {
  return amendSchedules(context, {
    amendment,
    apply: applyInParts,
    notes,
    needsConfirmation: true,
    nothing: "the schedules are up to date: nothing to change",
    buildQuestion: (changes) => `Import ${count} schedules (${formatImportCounts(changes)})?`,
  });
}

/**
 * Reads the files of an import.
 * @returns the schedules in them, and notes about them; the outcome if a file has faults
 * @throws UsageError, SignalboxError 74
 */
async function readImportInput(
  context: CommandContext<ReadingFlags>,
): Promise<{ wanted: readonly ScheduleImport[]; notes: readonly string[] } | { faulty: ActionOutcome }> {
  const [, ...files] = context.args;
  const wanted: ScheduleImport[] = [];
  const [faults, notes]: [string[], string[]] = [[], []];
  const met = new Map<string, number>();
  for (const file of files) {
    const text = await readDocumentText(context.io, file);
    const terms = parseImportOptions(context, file, text);
    const { source } = terms;
    if (wanted.some((one) => one.source === source))
      throw new UsageError(
        `${file}: another file has the source ${quoteText(source)} already; import them one by one, each with --source`,
      );
    const { definitions, ...remarks } = convertCrontab(text, terms, met);
    faults.push(...formatRemarks(file, remarks.faults));
    notes.push(...formatLineRemarks(formatDocumentName(file), remarks.notes, getNoteKind));
    const prunes = context.flags.prune === true;
    wanted.push({ target: source.replace(":", " "), definitions, source, prunes });
  }
  return faults.length > 0 ? { faulty: createImportFaults(faults) } : { wanted, notes };
}

/** Notes that differ only in what they quote are of one kind. */
function getNoteKind(detail: string): string {
  return detail.replace(/\([^()]*\)|"[^"]*"/g, "");
}

function formatRemarks(file: string, remarks: readonly LineRemark[]): string[] {
  return formatLineRemarks(formatDocumentName(file), remarks);
}

function parseImportOptions(
  { clock, flags, io }: CommandContext<ReadingFlags>,
  file: string,
  text: string,
): CrontabImportOptions {
  const { "host-group": group, timezone, source = file === "-" ? "stdin" : basename(file) } = flags;
  return {
    format: flags.format ?? chooseCrontabFormat(file, text),
    // By default that of this host, which cron uses too.
    timezone: timezone === undefined ? Intl.DateTimeFormat().resolvedOptions().timeZone : checkZone(timezone),
    source: `crontab:${validateName("source", source)}`,
    prefix: flags["prefix-id"] ?? "",
    group: group === undefined ? undefined : validateName("group", group),
    on: flags.on,
    workerUser: flags["worker-user"] ?? io.env.USER ?? userInfo().username,
    sudo: flags.sudo === true,
    catchup: flags.catchup ?? "latest",
    overlap: flags.overlap ?? "forbid",
    isStrict: flags.strict === true,
    now: clock.getWallTime(),
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
  throw new UsageError(`${formatDocumentName(file)}: ${doubt}: add --format system or --format user`);
}

/** Largest number of faults that are reported; further ones are only counted. */
const MAX_REPORTED_FAULTS = 50;

function createImportFaults(faults: readonly string[]): ActionOutcome {
  const more =
    faults.length > MAX_REPORTED_FAULTS ? [`and ${faults.length - MAX_REPORTED_FAULTS} more faults`] : [];
  return createFaultyOutcome(faults, [...faults.slice(0, MAX_REPORTED_FAULTS), ...more]);
}

export const importPerfectschedTable = createActionCommand<ImportPerfectschedFlags>(async (context) => {
  const { args, flags } = context;
  const [file = "-"] = args;
  const text = await readDocumentText(context.io, file);
  const source = validateName("source", flags.source ?? "perfectsched");
  const { definitions, positions, faults, notes } = convertTable(text, {
    type: flags.type,
    source,
    prefix: flags["prefix-id"] ?? "",
    now: context.clock.getWallTime(),
  });
  if (faults.length > 0)
    return createImportFaults(
      formatRemarks(
        file,
        [...faults].sort((a, b) => a.line - b.line),
      ),
    );
  const target = `schedules of ${basename(formatDocumentName(file))}`;
  const wanted = { definitions, positions, source, prunes: flags.prune === true, target };
  return await importWanted(context, {
    amendment: buildImportMutation(wanted),
    notes: formatRemarks(file, notes),
    count: definitions.size,
  });
});
