import { userInfo } from "node:os";
import { basename } from "node:path";
import { UsageError } from "../../../base/errors.ts";
import type { ScheduleImport } from "../../../operate/import-schedules.ts";
import { validateName } from "../../../protocol/names.ts";
import { checkZone } from "../../../schedule/cron/zone.ts";
import type { Catchup, Overlap } from "../../../schedule/definition-values.ts";
import type { CrontabFormat } from "../../../syntax/crontab.ts";
import { guessCrontabFormat } from "../../../syntax/crontab-format.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { readDocumentText } from "../../configure/documents.ts";
import type { ActionOutcome } from "../../outcome/action-outcome.ts";
import { createFaultyOutcome } from "../../outcome/create-outcome.ts";
import type { Call, CommandIo } from "../../spec.ts";
import { type CrontabImportOptions, convertCrontab } from "../crontab.ts";
import { parseScheduleDocument } from "../schedule-document.ts";

/** The schedules in a file, and notes about them. */
export interface ImportInput {
  wanted: ScheduleImport;
  notes: readonly string[];
}

/**
 * Reads the file of an import.
 * @param now  wall clock, ms since the epoch
 * @returns the outcome if the file has faults
 * @throws UsageError, SignalboxError 74
 */
export async function readImportInput(
  call: Call,
  io: CommandIo,
  now: number,
): Promise<ImportInput | { faulty: ActionOutcome }> {
  const [kind, file = "-"] = call.args;
  const text = await readDocumentText(io, file);
  const name = file === "-" ? "standard input" : file;
  if (kind === "json") return readJsonInput(call, name, text);
  const terms = { ...parseImportOptions(call, io, file, text), now };
  const { definitions, faults, notes } = convertCrontab(text, terms);
  const formatRemark = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
  if (faults.length > 0) return { faulty: createImportFaults(faults.map(formatRemark)) };
  const wanted = { target: terms.source.replace(":", " "), definitions, source: terms.source };
  return { wanted: { ...wanted, prunes: call.flags.prune === true }, notes: notes.map(formatRemark) };
}

/** Flags that only an import of a crontab has. */
const CRONTAB_FLAGS = [
  "format",
  "timezone",
  "host-group",
  "prefix-id",
  "worker-user",
  "sudo",
  "catchup",
  "overlap",
];

function readJsonInput(call: Call, name: string, text: string): ImportInput | { faulty: ActionOutcome } {
  const useless = CRONTAB_FLAGS.find((flag) => call.flags[flag] !== undefined);
  if (useless !== undefined)
    throw new UsageError(`--${useless} is for crontabs; a JSON file has the settings of each schedule`);
  const read = parseScheduleDocument(text);
  if ("faults" in read)
    return { faulty: createImportFaults(read.faults.map((fault) => `${name}: ${fault}`)) };
  const { calendars } = read;
  const wanted = { target: `schedules of ${name}`, prunes: call.flags.prune === true, calendars };
  const given = getTextFlag(call, "source");
  if (given === undefined) return { wanted: { ...wanted, definitions: read.definitions }, notes: [] };
  const source = `json:${validateName("source", given)}`;
  const definitions = new Map([...read.definitions].map(([id, one]) => [id, { ...one, source }]));
  const remedy = "Give that schedule another id in the file, or leave out --source";
  return { wanted: { ...wanted, definitions, source, remedy }, notes: [] };
}

function parseImportOptions(
  call: Call,
  io: CommandIo,
  file: string,
  text: string,
): Omit<CrontabImportOptions, "now"> {
  const group = getTextFlag(call, "host-group");
  const zone = getTextFlag(call, "timezone");
  const source = getTextFlag(call, "source") ?? (file === "-" ? "stdin" : basename(file));
  return {
    format: (getTextFlag(call, "format") as CrontabFormat | undefined) ?? chooseCrontabFormat(file, text),
    timezone: zone === undefined ? getHostZone() : checkZone(zone),
    source: `crontab:${validateName("source", source)}`,
    prefix: getTextFlag(call, "prefix-id") ?? "",
    group: group === undefined ? undefined : validateName("group", group),
    workerUser: getTextFlag(call, "worker-user") ?? io.env.USER ?? userInfo().username,
    sudo: call.flags.sudo === true,
    catchup: (getTextFlag(call, "catchup") as Catchup | undefined) ?? "latest",
    overlap: (getTextFlag(call, "overlap") as Overlap | undefined) ?? "forbid",
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
export function createImportFaults(faults: readonly string[]): ActionOutcome {
  const more = faults.length > MANY ? [`and ${faults.length - MANY} more faults`] : [];
  return createFaultyOutcome({ revision: undefined, faults }, [
    ...faults.slice(0, MANY),
    ...more,
    "nothing was changed",
  ]);
}
