import { computeDisplayWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import type { Detail, DetailRow, DetailTarget, Fact, Section } from "../../model/detail/detail.ts";
import type { TableColumn } from "../../model/views/view.ts";
import { flowFacts } from "./fact-lines.ts";
import { buildGridSpans } from "./grid.ts";
import { type OutputStyle, paintSpans, type TextSpan } from "./paint.ts";
import { wrapText } from "./wrap.ts";

/** The indent of everything below the heading. */
const INDENT = "  ";

/** A line of a detail; `target` is what it opens if it is selected. */
export interface DetailLine {
  spans: readonly TextSpan[];
  target?: DetailTarget | undefined;
}

/** Renders a detail as text: heading, evidence, facts, sections. */
export function renderDetailText(detail: Detail, style: OutputStyle): string[] {
  return buildDetailLines(detail, style).map(({ spans }) => paintSpans(spans, style));
}

/**
 * Builds the same lines in pieces, with their targets. @param isDense  facts one after the other, and the first section
 * directly below them
 */
export function buildDetailLines(detail: Detail, style: OutputStyle, isDense = false): DetailLine[] {
  const { heading, tone, evidence = [], facts, sections } = detail;
  const width = facts.reduce((most, { label }) => Math.max(most, label.length), 0);
  return [
    ...foldText(clean(heading), style).map((text) => ({ spans: [{ text, role: tone }] })),
    ...evidence.flatMap((section) => buildSection(section, style)),
    ...(isDense
      ? flowFacts(facts, style).map((spans) => ({ spans }))
      : facts.flatMap((fact) => buildFactLines(fact, width, style))),
    ...sections.flatMap((section, at) => [
      ...(isDense && at === 0 ? [] : [{ spans: [] }]),
      ...buildSection(section, style),
    ]),
  ];
}

/** Wraps lines of prose. Continuation lines are indented. */
export function wrapProseLines(lines: readonly string[], style: OutputStyle): string[] {
  return lines.flatMap((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    return foldText(clean(line.slice(indent.length)), style, indent);
  });
}

function buildFactLines(
  { label, value, ascii = value, tone = "plain" }: Fact,
  width: number,
  style: OutputStyle,
): DetailLine[] {
  const start = `${INDENT}${label.padEnd(width)}  `;
  const lines = foldText(clean(style.arrow === "->" ? ascii : value), style, " ".repeat(start.length), "");
  return lines.map((line, at) => ({
    spans:
      at === 0
        ? [{ text: start }, { text: line.slice(start.length), role: tone }]
        : [{ text: line, role: tone }],
  }));
}

function buildSection(section: Section, style: OutputStyle): DetailLine[] {
  const innerStyle = { ...style, ...(style.width !== undefined && { width: style.width - INDENT.length }) };
  const title = foldText(clean(section.title), style).map((text) => ({
    spans: [{ text, role: "heading" as const }],
  }));
  const lines =
    section.kind === "lines"
      ? wrapProseLines(section.lines, innerStyle).map((text): DetailLine => ({ spans: [{ text }] }))
      : buildSectionTable(section, innerStyle);
  const indent = { text: INDENT };
  return [...title, ...lines.map((line) => ({ ...line, spans: [indent, ...line.spans] }))];
}

function buildSectionTable(section: Section & { kind: "table" }, style: OutputStyle): DetailLine[] {
  const table = { columns: buildColumns(section), rows: section.rows, wall: 0 };
  const { head, rows } = buildGridSpans(table, style);
  const lines = rows.flatMap((row, at) => row.map((spans) => ({ spans, target: section.targets?.[at] })));
  return [{ spans: head }, ...lines];
}

function buildColumns({ columns, rows }: Section & { kind: "table" }): TableColumn<DetailRow>[] {
  return columns.map((column, at) => ({
    ...column,
    id: String(at),
    formatCell: (row: DetailRow) => row[at]?.text ?? "",
    ...(rows.some((row) => row[at]?.brief !== undefined) && {
      formatBriefCell: (row: DetailRow) => row[at]?.brief ?? row[at]?.text ?? "",
    }),
    getTone: (row: DetailRow) => row[at]?.tone ?? "plain",
  }));
}

/** Wraps a text, and indents the lines after the first. Without a width, the text stays one line. */
function foldText(text: string, { width }: OutputStyle, indent = "", more = INDENT): string[] {
  if (width === undefined || computeDisplayWidth(text) + indent.length <= width) return [indent + text];
  const available = Math.max(10, width - indent.length - more.length);
  return wrapText(text, available).map((line, at) => (at === 0 ? indent : indent + more) + line);
}
