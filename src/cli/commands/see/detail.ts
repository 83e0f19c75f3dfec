import { computeDisplayWidth } from "../../../core/base/display-width.ts";
import { clean } from "../../../core/base/text.ts";
import type { Detail, DetailRow, DetailTarget, Fact, Section } from "../../views/detail.ts";
import type { TableColumn } from "../../views/view.ts";
import { buildGridSpans, wrapText } from "./grid.ts";
import { type OutputStyle, paintSpans, type TextSpan } from "./paint.ts";

/** The indent of everything below the heading. */
const INDENT = "  ";

/** A line of a detail; `target` is what it opens if it is selected. */
export interface DetailLine {
  spans: readonly TextSpan[];
  target?: DetailTarget | undefined;
}

/** Renders a detail as text: heading, facts, sections. */
export function renderDetailText(detail: Detail, style: OutputStyle): string[] {
  return buildDetailLines(detail, style).map(({ spans }) => paintSpans(spans, style));
}

/**
 * Builds the same lines in pieces, with their targets. @param isDense  facts one after the other, and the first section
 * directly below them
 */
export function buildDetailLines(detail: Detail, style: OutputStyle, isDense = false): DetailLine[] {
  const { heading, tone, facts, sections } = detail;
  const width = facts.reduce((most, { label }) => Math.max(most, label.length), 0);
  return [
    ...foldText(clean(heading), style).map((text) => ({ spans: [{ text, role: tone }] })),
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
    ...(rows.some((row) => row[at]?.ascii !== undefined) && {
      formatAsciiCell: (row: DetailRow) => row[at]?.ascii ?? row[at]?.text ?? "",
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

/** Between two facts on a line. */
const FACT_SEPARATOR: TextSpan = { text: " · ", role: "quiet" };

interface FlowingFact {
  spans: readonly TextSpan[];
  width: number;
}

/** Builds facts one after the other on as few lines as possible: `holder web1:3121 · since 12:00, for 3m`. */
export function flowFacts(
  facts: readonly Fact[],
  { width = Number.POSITIVE_INFINITY }: OutputStyle,
): TextSpan[][] {
  const available = Math.max(10, width - INDENT.length);
  const lines: FlowingFact[][] = [];
  for (const fact of facts.flatMap((one) => toFlowingFacts(one, available))) {
    const line = lines.at(-1);
    if (line !== undefined && measureLine([...line, fact]) <= available) line.push(fact);
    else lines.push([fact]);
  }
  return lines.map((line) => [
    { text: INDENT },
    ...line.flatMap(({ spans }, at) => (at === 0 ? spans : [FACT_SEPARATOR, ...spans])),
  ]);
}

function measureLine(line: readonly FlowingFact[]): number {
  return line.reduce(
    (sum, { width }) => sum + width + FACT_SEPARATOR.text.length,
    -FACT_SEPARATOR.text.length,
  );
}

/** Builds a fact; one that is wider than a line in several pieces. */
function toFlowingFacts({ label, value, tone = "plain" }: Fact, available: number): FlowingFact[] {
  const text = clean(value);
  const start: TextSpan = { text: `${label} `, role: "quiet" };
  const width = computeDisplayWidth(start.text + text);
  if (width <= available) return [{ spans: [start, { text, role: tone }], width }];
  const [first = "", ...more] = wrapText(start.text + text, available);
  const rest = more.map((line) => ({ spans: [{ text: line, role: tone }], width: available }));
  return [
    { spans: [start, { text: first.slice(start.text.length), role: tone }], width: available },
    ...rest,
  ];
}
