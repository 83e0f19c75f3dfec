// Tables as databases write them: comma separated with doubled quotes; the same with backslashes, as MySQL's OUTFILE has them;
// tab separated, as its client's --batch has them.

/** One record, and the line it begins on. A cell that is null has no value. */
export interface Cells {
  line: number;
  cells: readonly (string | null)[];
}

/** A place that fits no way of writing tables. */
export interface Broken {
  line: number;
  detail: string;
}

/** The records of a text. Empty lines pass. */
export function readDelimited(text: string): Cells[] | Broken {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  if (head.includes("\t")) return readTabbed(text);
  const separator = head.includes(";") && !head.includes(",") ? ";" : ",";
  // MySQL writes a quote inside quotes as \", which ends the cell in all other files, and is followed by no separator there.
  const doubled = readQuoted(text, separator, false);
  if (Array.isArray(doubled)) return doubled;
  const escaped = readQuoted(text, separator, true);
  return Array.isArray(escaped) ? escaped : doubled;
}

function readTabbed(text: string): Cells[] {
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

/** Text in which `\n`, `\t` and the like stand for what cannot stand in a line. */
export function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
}

function readQuoted(text: string, separator: string, hasEscapes: boolean): Cells[] | Broken {
  const records: Cells[] = [];
  let cells: (string | null)[] = [];
  let line = 1;
  let start = 1;
  for (let at = 0; at <= text.length; ) {
    const cell =
      text[at] === '"' ? quotedCell(text, at, hasEscapes) : plainCell(text, at, separator, hasEscapes);
    const next = cell === undefined ? undefined : text[cell.end];
    if (cell === undefined) return { line: start, detail: "a cell that begins with a quote does not end" };
    line += text.slice(at, cell.end).split("\n").length - 1;
    if (next !== undefined && next !== separator && next !== "\n" && next !== "\r")
      return { line, detail: "a cell goes on behind its closing quote" };
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

/** A cell, and where it ends. */
interface Cell {
  value: string | null;
  end: number;
}

function quotedCell(text: string, start: number, hasEscapes: boolean): Cell | undefined {
  // Mark by mark: one pattern for the whole cell would exhaust the stack on a long one.
  const mark = hasEscapes ? /\\.|""|"/gs : /""|"/g;
  mark.lastIndex = start + 1;
  let found = mark.exec(text);
  while (found !== null && found[0] !== '"') found = mark.exec(text);
  if (found === null) return undefined;
  const single = text.slice(start + 1, found.index).replaceAll('""', '"');
  return { value: hasEscapes ? unescaped(single) : single, end: mark.lastIndex };
}

function plainCell(text: string, start: number, separator: string, hasEscapes: boolean): Cell {
  const rest = new RegExp(
    hasEscapes ? `[^${separator}\\\\\\r\\n]*(?:\\\\.[^${separator}\\\\\\r\\n]*)*` : `[^${separator}\\r\\n]*`,
    "sy",
  );
  rest.lastIndex = start;
  const cell = rest.exec(text)?.[0] ?? "";
  const end = start + cell.length;
  if (isNull(cell)) return { value: null, end };
  return { value: hasEscapes ? unescaped(cell) : cell, end };
}
