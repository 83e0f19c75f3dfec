import { findInexactNumber } from "../../../base/json-numbers.ts";
import { isJsonObject, parseJson } from "../../../base/parse-json.ts";
import { findNameFault, type ParseResult, quoteText } from "../../../base/text.ts";
import type { SchedulePosition } from "../../../operate/import-schedules.ts";
import { checkZone } from "../../../schedule/cron/zone.ts";
import { type Definition, findDefinitionFault } from "../../../schedule/definition.ts";
import { listPerfectschedDifferences } from "../../../schedule/lint/dialect-perfectsched.ts";
import { parsePlan } from "../../../schedule/plan/plan.ts";
import { formatInstantUtc } from "../../command-line/instant.ts";
import {
  type ExportedRow,
  parseExportedRows,
  type TableColumnName,
  type TableRemark,
  unescapeText,
} from "../perfectsched.ts";

/** Options from the command line of the import. */
export interface TableImportOptions {
  /** The type of schedules whose data has none. */
  type: string | undefined;
  /** The prefix of their ids. */
  prefix: string;
  /** The source name of the schedules of this table. */
  source: string;
  /** Wall clock, ms since the epoch. */
  now: number;
}

/** The schedules of a table, each with its position. */
export interface ConvertedTable {
  definitions: ReadonlyMap<string, Definition>;
  positions: ReadonlyMap<string, SchedulePosition>;
  faults: readonly TableRemark[];
  /** Differences between PerfectSched and signalbox. */
  notes: readonly TableRemark[];
}

/** Converts all rows of an export, and reports every fault with its line. */
export function convertTable(text: string, terms: TableImportOptions): ConvertedTable {
  const { rows, faults: broken, notes: stray } = parseExportedRows(text);
  const definitions = new Map<string, Definition>();
  const positions = new Map<string, SchedulePosition>();
  const faults = [...broken];
  const notes = [...stray];
  for (const row of rows) {
    const read = parseRow(row, terms);
    if ("faults" in read) faults.push(...read.faults.map((detail) => ({ line: row.line, detail })));
    else if (definitions.has(read.id))
      faults.push({ line: row.line, detail: `${quoteText(read.id)} occurs twice` });
    else {
      definitions.set(read.id, read.definition);
      positions.set(read.id, read.position);
      const told = [...listCronNotes(read.definition, terms.now), ...listHeldNotes(read, terms.now)];
      notes.push(...told.map((detail) => ({ line: row.line, detail: `${quoteText(read.id)}: ${detail}` })));
    }
  }
  return { definitions, positions, faults, notes };
}

interface ConvertedSchedule {
  id: string;
  definition: Definition;
  position: SchedulePosition;
}

function parseRow(
  row: ExportedRow,
  { type, source, prefix }: TableImportOptions,
): ConvertedSchedule | { faults: string[] } {
  const faults: string[] = [];
  const unwrapValue = <T>(parsed: ParseResult<T>, otherwise: T): T => {
    if ("value" in parsed) return parsed.value;
    faults.push(parsed.fault);
    return otherwise;
  };
  const id = prefix + unwrapValue(parseText(row, "id"), "");
  const next = unwrapValue(parseSeconds(row, "next_time"), 0);
  const delay = unwrapValue(parseSeconds(row, "delay", 0), 0);
  const runAt = unwrapValue(parseSeconds(row, "timeout", next / 1000 + delay / 1000), 0);
  const { type: ownType, ...data } = unwrapValue(parseData(row), {});
  const chosen = typeof ownType === "string" && ownType !== "" ? ownType : type;
  const definition: Definition = {
    cron: unwrapValue(parseText(row, "cron"), "* * * * *"),
    timezone: unwrapValue(parseText(row, "timezone", "UTC"), "UTC"),
    ...(chosen !== undefined && { type: chosen }),
    ...(delay > 0 && { delay }),
    data,
    source,
  };
  if (ownType !== undefined && ownType !== null && typeof ownType !== "string")
    faults.push(`type ${formatValue(ownType)} in data is not a text`);
  const name = findNameFault(id);
  if (name !== undefined) faults.push(`id: ${name}`);
  const fault = findDefinitionFault({ ...definition });
  if (fault !== undefined) faults.push(fault);
  return faults.length > 0 ? { faults } : { id, definition, position: { next, runAt } };
}

function parseText(
  { values, isTabbed }: ExportedRow,
  column: TableColumnName,
  otherwise?: string,
): ParseResult<string> {
  const value = values[column] ?? undefined;
  if ((value === undefined || value === "") && otherwise !== undefined) return { value: otherwise };
  if (typeof value !== "string") return { fault: `${column} ${formatValue(value)} is not a text` };
  return { value: isTabbed ? unescapeText(value) : value };
}

/** Parses a column with seconds. @returns ms */
function parseSeconds(
  { values }: ExportedRow,
  column: TableColumnName,
  otherwise?: number,
): ParseResult<number> {
  const value = values[column] ?? undefined;
  if ((value === undefined || value === "") && otherwise !== undefined) return { value: otherwise * 1000 };
  const seconds = typeof value === "string" && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0 && seconds < 1e11)
    return { value: seconds * 1000 };
  const what = column === "delay" ? "a number of seconds" : "a time in seconds since 1970";
  return { fault: `${column} ${formatValue(value)} is not ${what}` };
}

/**
 * Parses the data of a row: JSON text, the same in hexadecimal as some clients print it, or a JSON object in a JSON
 * export.
 */
function parseData({ values, isTabbed }: ExportedRow): ParseResult<Readonly<Record<string, unknown>>> {
  const given = values.data ?? undefined;
  if (given === undefined || given === "") return { value: {} };
  if (isJsonObject(given)) return { value: given };
  if (typeof given !== "string") return { fault: `data ${formatValue(given)} is not a JSON object` };
  const text = /^0x(?:[\da-f]{2})*$/i.test(given) ? Buffer.from(given.slice(2), "hex").toString() : given;
  const plain = isTabbed && parseJson(unescapeText(text)) !== undefined ? unescapeText(text) : text;
  const value = parseJson(plain);
  const inexact = isJsonObject(value) ? findInexactNumber(plain) : undefined;
  if (inexact !== undefined) return { fault: `data: ${inexact.detail}` };
  if (isJsonObject(value)) return { value };
  const why = value === undefined ? "JSON" : "a JSON object";
  return {
    fault: `data ${quoteText(text)} is not ${why}; PerfectSched reads it as {}: write {} if that is right`,
  };
}

/**
 * Notes where PerfectSched fires at other times than signalbox.
 * @param now  ms since the epoch
 * @throws CronError, ConfigError for an unknown time zone
 */
export function listCronNotes(
  { cron, timezone }: Pick<Definition, "cron" | "timezone">,
  now: number,
): string[] {
  const plan = parsePlan(cron);
  if (plan.kind !== "cron") return []; // PerfectSched has no such schedule
  return listPerfectschedDifferences(plan.cron, checkZone(timezone), now).map(
    (detail) => `${quoteText(cron)}: ${detail}`,
  );
}

/** Notes an occurrence whose timeout was moved on: a worker runs it, or has postponed it. */
function listHeldNotes(
  { definition: { delay = 0 }, position: { next, runAt } }: ConvertedSchedule,
  now: number,
): string[] {
  if (runAt <= next + delay || next + delay > now) return [];
  return [
    `its occurrence of ${formatInstantUtc(next)} was claimed by a worker, or delayed; it starts here` +
      ` ${runAt <= now ? "at once" : `at ${formatInstantUtc(runAt)}`}. If that worker still runs, stop it first and export again`,
  ];
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? quoteText(value) : (JSON.stringify(value) ?? "nothing");
}
