// Parses tables that databases export: comma separated with doubled quotes; the same with backslashes, as MySQL's
// OUTFILE writes them; tab separated, as the MySQL client's --batch writes them.

/** A record, and the line on which it begins. A null cell has no value. */
export interface DelimitedRecord {
  line: number;
  cells: readonly (string | null)[];
}

/** A line that fits no table format. */
export interface DelimitedFault {
  line: number;
  detail: string;
}

/** Parses the records of a text. Empty lines are skipped. */
export function parseDelimited(text: string): DelimitedRecord[] | DelimitedFault {
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
export function unescapeText(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
}

function parseQuoted(
  text: string,
  separator: string,
  hasEscapes: boolean,
): DelimitedRecord[] | DelimitedFault {
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
