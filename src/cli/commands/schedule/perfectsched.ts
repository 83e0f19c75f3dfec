import { parseTree } from "jsonc-parser";
import type { WallTime } from "../../../core/base/clock.ts";
import { computeLineColumn } from "../../../core/base/json-fault.ts";
import { findInexactNumber } from "../../../core/base/json-numbers.ts";
import { isJsonObject, parseJson } from "../../../core/base/parse-json.ts";
import { findNameFault, type ParseResult, quoteText } from "../../../core/base/text.ts";
import { isCron } from "../../../schedule/cron/cron.ts";
import { listPerfectschedDifferences } from "../../../schedule/cron/lint.ts";
import { checkZone } from "../../../schedule/cron/offsets.ts";
import { type Definition, findDefinitionFault } from "../../../schedule/definition.ts";
import { parsePlan } from "../../../schedule/plan.ts";
import type { SchedulePosition } from "../../../site/operate/site.ts";
import { formatInstantUtc } from "../../frame/command-line/instant.ts";

/** Columns of PerfectSched's table. */
const TABLE_COLUMNS = ["id", "timeout", "next_time", "cron", "delay", "data", "timezone"] as const;
type TableColumnName = (typeof TABLE_COLUMNS)[number];

/** Columns that every row needs. */
const REQUIRED_COLUMNS: readonly TableColumnName[] = ["id", "next_time", "cron"];

/** A row of the table, not validated: texts of a table, or JSON values. */
interface ExportedRow {
  line: number;
  values: Readonly<Partial<Record<TableColumnName, unknown>>>;
  /** Whether a backslash in a text may begin an escape. */
  isTabbed: boolean;
}

/** A message about a line of the file. */
interface TableRemark {
  line: number;
  detail: string;
}

interface ExportedRows {
  rows: readonly ExportedRow[];
  faults: readonly TableRemark[];
  notes: readonly TableRemark[];
}

/** Parses cells below a line with the column names. */
function parseCellRows(text: string): ExportedRows {
  const records = parseDelimited(text);
  if (!Array.isArray(records)) return refuseFile(records);
  const [head, ...rest] = records;
  if (head === undefined) return refuseFile({ line: 1, detail: "the file is empty" });
  const names = head.cells.map((name) => (name ?? "").trim().toLowerCase());
  const fault = findHeadFault(names);
  if (fault !== undefined) return refuseFile({ line: head.line, detail: fault });
  const isTabbed = text.slice(0, text.indexOf("\n")).includes("\t");
  const faults: TableRemark[] = [];
  const rows = rest.flatMap(({ line, cells }): ExportedRow[] => {
    if (cells.length === names.length)
      return [{ line, isTabbed, values: Object.fromEntries(names.map((name, at) => [name, cells[at]])) }];
    faults.push({
      line,
      detail: `the line has ${cells.length} cells, but the first line has ${names.length} columns`,
    });
    return [];
  });
  return { rows, faults, notes: listStrayNotes(head.line, names) };
}

function refuseFile(fault: TableRemark): ExportedRows {
  return { rows: [], faults: [fault], notes: [] };
}

function findHeadFault(names: readonly string[]): string | undefined {
  const missing = REQUIRED_COLUMNS.filter((name) => !names.includes(name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (missing.length === 0)
    return twice === undefined ? undefined : `column ${quoteText(twice)} is named twice`;
  return `the first line must name the columns (${TABLE_COLUMNS.join(",")}); ${formatMissing(missing)}`;
}

function formatMissing(missing: readonly string[]): string {
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`;
}

function listStrayNotes(line: number, names: readonly string[]): TableRemark[] {
  const stray = names.filter((name) => !(TABLE_COLUMNS as readonly string[]).includes(name));
  return stray.map((name) => ({ line, detail: `column ${quoteText(name)} is ignored` }));
}

/** Parses a JSON array, or one JSON object per line. */
function parseJsonRows(text: string): ExportedRows {
  const read = parseJsonValues(text);
  const inexact = read.faults.length === 0 ? findInexactNumber(text) : undefined;
  if (inexact === undefined) return read;
  const { line } = computeLineColumn(text, inexact.at);
  return { ...read, faults: [{ line, detail: inexact.detail }] };
}

function parseJsonValues(text: string): ExportedRows {
  const whole = parseJson(text);
  if (Array.isArray(whole)) {
    const lines = findElementLines(text);
    return toExportedRows(whole.map((value, at) => ({ line: lines[at] ?? 1, value })));
  }
  if (isJsonObject(whole)) return toExportedRows([{ line: 1, value: whole }]);
  const lines = text
    .split(/\r?\n/)
    .flatMap((one, at) => (one.trim() === "" ? [] : [{ line: at + 1, value: parseJson(one) }]));
  if (lines.length > 0 && isJsonObject(lines[0]?.value)) return toExportedRows(lines);
  const detail = "the file must be a JSON array of rows, or have one JSON object per line";
  return refuseFile({ line: 1, detail });
}

function toExportedRows(values: readonly { line: number; value: unknown }[]): ExportedRows {
  const faults: TableRemark[] = [];
  const stray = new Map<string, number>();
  const rows = values.flatMap(({ line, value }): ExportedRow[] => {
    const missing = isJsonObject(value) ? REQUIRED_COLUMNS.filter((name) => value[name] === undefined) : [];
    if (isJsonObject(value) && missing.length === 0) {
      for (const name of Object.keys(value)) if (!stray.has(name)) stray.set(name, line);
      return [{ line, values: value, isTabbed: false }];
    }
    faults.push({
      line,
      detail: isJsonObject(value) ? formatMissing(missing) : "the row is not a JSON object",
    });
    return [];
  });
  const notes = [...stray].flatMap(([name, line]) => listStrayNotes(line, [name]));
  return { rows, faults, notes };
}

/** Finds the lines on which the elements of an array begin. */
function findElementLines(text: string): number[] {
  const { children = [] } = parseTree(text) ?? {};
  let [line, end] = [1, 0];
  return children.map(({ offset }) => {
    line += text.slice(end, offset).split("\n").length - 1;
    end = offset;
    return line;
  });
}

// Parses tables that databases export: comma separated with doubled quotes; the same with backslashes, as MySQL's
// OUTFILE writes them; tab separated, as the MySQL client's --batch writes them.

/** A record, and the line on which it begins. A null cell has no value. */
interface DelimitedRecord {
  line: number;
  cells: readonly (string | null)[];
}

/** Parses the records of a text. Empty lines are skipped. @returns the fault, if a line fits no format */
function parseDelimited(text: string): DelimitedRecord[] | TableRemark {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  if (head.includes("\t")) return parseTabbed(text);
  const separator = head.includes(";") && !head.includes(",") ? ";" : ",";
  // MySQL writes a quote inside quotes as \". In other files this ends the cell, but is not followed by a separator.
  const doubled = parseQuoted(text, separator, false);
  if (Array.isArray(doubled)) return doubled;
  const escaped = parseQuoted(text, separator, true);
  return Array.isArray(escaped) ? escaped : doubled;
}

function parseTabbed(text: string): DelimitedRecord[] {
  return text.split(/\r?\n/).flatMap((line, at) => {
    if (line === "") return [];
    return [{ line: at + 1, cells: line.split("\t").map((cell) => (isNull(cell) ? null : cell)) }];
  });
}

const isNull = (cell: string): boolean => cell === "\\N" || cell === "NULL";

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  b: "\b",
  Z: "\x1a",
};

/** Replaces escapes such as `\n` and `\t` by the characters they stand for. */
function unescapeText(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
}

function parseQuoted(text: string, separator: string, hasEscapes: boolean): DelimitedRecord[] | TableRemark {
  const records: DelimitedRecord[] = [];
  let cells: (string | null)[] = [];
  let line = 1;
  let start = 1;
  for (let at = 0; at <= text.length; ) {
    const cell =
      text[at] === '"'
        ? parseQuotedCell(text, at, hasEscapes)
        : parsePlainCell(text, at, separator, hasEscapes);
    const next = cell === undefined ? undefined : text[cell.end];
    if (cell === undefined) return { line: start, detail: "a quoted cell has no closing quote" };
    line += text.slice(at, cell.end).split("\n").length - 1;
    if (next !== undefined && next !== separator && next !== "\n" && next !== "\r")
      return { line, detail: "a cell continues after its closing quote" };
    cells.push(cell.value);
    at = cell.end + 1;
    if (next === separator) continue;
    if (next === "\r" && text[at] === "\n") at += 1;
    if (cells.length > 1 || cells[0] !== "") records.push({ line: start, cells });
    cells = [];
    line += next === undefined ? 0 : 1;
    start = line;
  }
  return records;
}

/** A cell, and the position of its end. */
interface Cell {
  value: string | null;
  end: number;
}

function parseQuotedCell(text: string, start: number, hasEscapes: boolean): Cell | undefined {
  // Finds one mark at a time: a pattern for the whole cell would exhaust the stack on a long one.
  const mark = hasEscapes ? /\\.|""|"/gs : /""|"/g;
  mark.lastIndex = start + 1;
  let found = mark.exec(text);
  while (found !== null && found[0] !== '"') found = mark.exec(text);
  if (found === null) return undefined;
  const single = text.slice(start + 1, found.index).replaceAll('""', '"');
  return { value: hasEscapes ? unescapeText(single) : single, end: mark.lastIndex };
}

function parsePlainCell(text: string, start: number, separator: string, hasEscapes: boolean): Cell {
  const rest = new RegExp(
    hasEscapes ? `[^${separator}\\\\\\r\\n]*(?:\\\\.[^${separator}\\\\\\r\\n]*)*` : `[^${separator}\\r\\n]*`,
    "sy",
  );
  rest.lastIndex = start;
  const cell = rest.exec(text)?.[0] ?? "";
  const end = start + cell.length;
  if (isNull(cell)) return { value: null, end };
  return { value: hasEscapes ? unescapeText(cell) : cell, end };
}

/** Options from the command line of the import. */
export interface TableImportOptions {
  /** The type of schedules whose data has none. */
  type: string | undefined;
  /** The prefix of their ids. */
  prefix: string;
  /** The source name of the schedules of this table. */
  source: string;
  /** Wall clock, ms since the epoch. */
  now: WallTime;
}

/** The schedules of a table, each with its position. */
interface ConvertedTable {
  definitions: ReadonlyMap<string, Definition>;
  positions: ReadonlyMap<string, SchedulePosition>;
  faults: readonly TableRemark[];
  /** Differences between PerfectSched and signalbox. */
  notes: readonly TableRemark[];
}

/** Converts all rows of an export, and reports every fault with its line. */
export function convertTable(text: string, terms: TableImportOptions): ConvertedTable {
  const isJson = /^\s*[[{]/.test(text);
  const { rows, faults: broken, notes: stray } = isJson ? parseJsonRows(text) : parseCellRows(text);
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
    catchup: "all", // missed runs are made up one by one there
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
 * @throws CronError, ConfigError for an unknown time zone
 */
export function listCronNotes(
  { cron, timezone }: Pick<Definition, "cron" | "timezone">,
  now: WallTime,
): string[] {
  const plan = parsePlan(cron);
  if (plan.kind !== "cron") return []; // PerfectSched has no such schedule
  return plan.crons
    .filter(isCron)
    .flatMap((one) =>
      listPerfectschedDifferences(one, checkZone(timezone), now).map(
        (detail) => `${quoteText(one.text)}: ${detail}`,
      ),
    );
}

/** Notes an occurrence whose timeout was moved on: a worker runs it, or has postponed it. */
function listHeldNotes(
  { definition: { delay = 0 }, position: { next, runAt } }: ConvertedSchedule,
  now: WallTime,
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
