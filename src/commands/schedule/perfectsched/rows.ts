import { inexactNumber } from "../../../base/json-numbers.ts";
import { quoted } from "../../../base/text.ts";
import { isFields } from "../../../schedule/fields.ts";
import { readDelimited } from "./delimited.ts";

/** Columns of PerfectSched's table. */
export const COLUMNS = ["id", "timeout", "next_time", "cron", "delay", "data", "timezone"] as const;
export type Column = (typeof COLUMNS)[number];

/** Columns without which a row means nothing. */
const NEEDED: readonly Column[] = ["id", "next_time", "cron"];

/** A row of the table, unchecked: texts of a table, or values of JSON. */
export interface Row {
  line: number;
  values: Readonly<Partial<Record<Column, unknown>>>;
  /** Where a backslash in a text may stand for something else. */
  isTabbed: boolean;
}

/** Something about a line of the file. */
export interface Remark {
  line: number;
  detail: string;
}

export interface Rows {
  rows: readonly Row[];
  faults: readonly Remark[];
  notes: readonly Remark[];
}

/** An export of the table: JSON, an array or an object a line; else cells under a line with the names of the columns. */
export function readRows(text: string): Rows {
  const isJson = /^\s*[[{]/.test(text);
  return isJson ? jsonRows(text) : cellRows(text);
}

function cellRows(text: string): Rows {
  const records = readDelimited(text);
  if (!Array.isArray(records)) return { rows: [], faults: [records], notes: [] };
  const [head, ...rest] = records;
  if (head === undefined) return { rows: [], faults: [{ line: 1, detail: "it is empty" }], notes: [] };
  const names = head.cells.map((name) => (name ?? "").trim().toLowerCase());
  const fault = headFault(names);
  if (fault !== undefined) return { rows: [], faults: [{ line: head.line, detail: fault }], notes: [] };
  const isTabbed = text.slice(0, text.indexOf("\n")).includes("\t");
  const faults: Remark[] = [];
  const rows = rest.flatMap(({ line, cells }): Row[] => {
    if (cells.length === names.length)
      return [{ line, isTabbed, values: Object.fromEntries(names.map((name, at) => [name, cells[at]])) }];
    faults.push({ line, detail: `it has ${cells.length} cells, and the first line names ${names.length}` });
    return [];
  });
  return { rows, faults, notes: strayNotes(head.line, names) };
}

function headFault(names: readonly string[]): string | undefined {
  const missing = NEEDED.filter((name) => !names.includes(name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (missing.length === 0) return twice === undefined ? undefined : `column ${quoted(twice)} is named twice`;
  return `the first line must name the columns (${COLUMNS.join(",")}); ${missingText(missing)}`;
}

function missingText(missing: readonly string[]): string {
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`;
}

function strayNotes(line: number, names: readonly string[]): Remark[] {
  const stray = names.filter((name) => !(COLUMNS as readonly string[]).includes(name));
  return stray.map((name) => ({ line, detail: `column ${quoted(name)} means nothing here` }));
}

function jsonRows(text: string): Rows {
  const read = valueRows(text);
  const inexact = read.faults.length === 0 ? inexactNumber(text) : undefined;
  if (inexact === undefined) return read;
  const line = text.slice(0, inexact.at).split("\n").length;
  return { ...read, faults: [{ line, detail: inexact.detail }] };
}

function valueRows(text: string): Rows {
  const whole = parsed(text);
  if (Array.isArray(whole)) {
    const lines = elementLines(text);
    return objectRows(whole.map((value, at) => ({ line: lines[at] ?? 1, value })));
  }
  if (isFields(whole)) return objectRows([{ line: 1, value: whole }]);
  const lines = text
    .split(/\r?\n/)
    .flatMap((one, at) => (one.trim() === "" ? [] : [{ line: at + 1, value: parsed(one) }]));
  if (lines.length > 0 && isFields(lines[0]?.value)) return objectRows(lines);
  return {
    rows: [],
    faults: [{ line: 1, detail: "it is neither a JSON array of rows nor a JSON object a line" }],
    notes: [],
  };
}

function objectRows(values: readonly { line: number; value: unknown }[]): Rows {
  const faults: Remark[] = [];
  const stray = new Map<string, number>();
  const rows = values.flatMap(({ line, value }): Row[] => {
    const missing = isFields(value) ? NEEDED.filter((name) => value[name] === undefined) : [];
    if (isFields(value) && missing.length === 0) {
      for (const name of Object.keys(value)) if (!stray.has(name)) stray.set(name, line);
      return [{ line, values: value, isTabbed: false }];
    }
    faults.push({
      line,
      detail: isFields(value) ? missingText(missing) : "it is not a JSON object",
    });
    return [];
  });
  const notes = [...stray].flatMap(([name, line]) => strayNotes(line, [name]));
  return { rows, faults, notes };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The lines on which the elements of an array begin. */
function elementLines(text: string): number[] {
  const lines: number[] = [];
  let [line, depth, isNext] = [1, 0, false];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},\n]|[^\s"[\]{},]+/gs)) {
    if (token === "\n") line += 1;
    else if (depth === 1 && isNext && token !== "]") lines.push(line);
    if (token !== "\n") isNext = (depth === 1 && token === ",") || (depth === 0 && token === "[");
    if (token === "[" || token === "{") depth += 1;
    if (token === "]" || token === "}") depth -= 1;
  }
  return lines;
}
