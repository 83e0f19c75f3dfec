import { clean, displayWidth } from "../../base/text.ts";
import type { Detail, DetailRow, Fact, Section } from "../../model/detail/detail.ts";
import type { Column } from "../../model/tables/view.ts";
import { gridLines } from "./grid.ts";
import { heading as emphasised, type Look, painted } from "./paint.ts";
import { wrapped } from "./wrap.ts";

/** How far everything below the heading stands in. */
const INDENT = "  ";

/** A detail as lines: heading, facts, what stands below. */
export function detailLines(detail: Detail, look: Look): string[] {
  const { heading, tone, facts, sections } = detail;
  const width = facts.reduce((most, { label }) => Math.max(most, label.length), 0);
  return [
    ...folded(clean(heading), look).map((line) => painted(line, tone, look)),
    ...facts.flatMap((fact) => factLines(fact, width, look)),
    ...sections.flatMap((section) => ["", ...sectionLines(section, look)]),
  ];
}

/** Lines of prose, what belongs to one standing in below it. */
export function proseLines(lines: readonly string[], look: Look): string[] {
  return lines.flatMap((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    return folded(clean(line.slice(indent.length)), look, indent);
  });
}

function factLines({ label, value, tone = "plain" }: Fact, width: number, look: Look): string[] {
  const start = `${INDENT}${label.padEnd(width)}  `;
  const lines = folded(clean(value), look, " ".repeat(start.length), "");
  return lines.map(
    (line, at) => (at === 0 ? start : "") + painted(at === 0 ? line.slice(start.length) : line, tone, look),
  );
}

function sectionLines(section: Section, look: Look): string[] {
  const room = { ...look, ...(look.width !== undefined && { width: look.width - INDENT.length }) };
  const title = folded(clean(section.title), look).map((line) => emphasised(line, look));
  const lines =
    section.kind === "lines"
      ? proseLines(section.lines, room)
      : gridLines({ columns: columnsOf(section), rows: section.rows, wall: 0 }, room);
  return [...title, ...lines.map((line) => INDENT + line)];
}

function columnsOf({ columns, rows }: Section & { kind: "table" }): Column<DetailRow>[] {
  return columns.map((column, at) => ({
    ...{ ...column, id: String(at), text: (row) => row[at]?.text ?? "" },
    ...(rows.some((row) => row[at]?.brief !== undefined) && {
      brief: (row: DetailRow) => row[at]?.brief ?? row[at]?.text ?? "",
    }),
    tone: (row) => row[at]?.tone ?? "plain",
  }));
}

/** A text in lines that fit, those after the first standing in further. Where there is no width it stays one. */
function folded(text: string, { width }: Look, indent = "", more = INDENT): string[] {
  if (width === undefined || displayWidth(text) + indent.length <= width) return [indent + text];
  const room = Math.max(10, width - indent.length - more.length);
  return wrapped(text, room).map((line, at) => (at === 0 ? indent : indent + more) + line);
}
