import { clean, computeDisplayWidth } from "../../base/text.ts";
import type { Detail, DetailRow, DetailTarget, Fact, Section } from "../../model/detail/detail.ts";
import type { TableColumn } from "../../model/views/view.ts";
import { renderGrid } from "./grid.ts";
import { type OutputStyle, paintHeading, paintText } from "./paint.ts";
import { wrapText } from "./wrap.ts";

/** The indent of everything below the heading. */
const INDENT = "  ";

/** A line of a detail; `target` is what it opens if it is selected. */
export interface DetailLine {
  text: string;
  target?: DetailTarget | undefined;
}

/** Renders a detail as lines: heading, evidence, facts, sections. */
export function renderDetailText(detail: Detail, style: OutputStyle): string[] {
  return renderDetailLines(detail, style).map(({ text }) => text);
}

/** Renders the same lines with their targets. */
export function renderDetailLines(detail: Detail, style: OutputStyle): DetailLine[] {
  const { heading, tone, evidence = [], facts, sections } = detail;
  const width = facts.reduce((most, { label }) => Math.max(most, label.length), 0);
  const toLines = (lines: readonly string[]) => lines.map((text): DetailLine => ({ text }));
  return [
    ...toLines(foldText(clean(heading), style).map((line) => paintText(line, tone, style))),
    ...evidence.flatMap((section) => renderSection(section, style)),
    ...toLines(facts.flatMap((fact) => renderFact(fact, width, style))),
    ...sections.flatMap((section) => [{ text: "" }, ...renderSection(section, style)]),
  ];
}

/** Wraps lines of prose. Continuation lines are indented. */
export function wrapProseLines(lines: readonly string[], style: OutputStyle): string[] {
  return lines.flatMap((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    return foldText(clean(line.slice(indent.length)), style, indent);
  });
}

function renderFact({ label, value, tone = "plain" }: Fact, width: number, style: OutputStyle): string[] {
  const start = `${INDENT}${label.padEnd(width)}  `;
  const lines = foldText(clean(value), style, " ".repeat(start.length), "");
  return lines.map(
    (line, at) =>
      (at === 0 ? start : "") + paintText(at === 0 ? line.slice(start.length) : line, tone, style),
  );
}

function renderSection(section: Section, style: OutputStyle): DetailLine[] {
  const innerStyle = { ...style, ...(style.width !== undefined && { width: style.width - INDENT.length }) };
  const title = foldText(clean(section.title), style).map((line) => ({ text: paintHeading(line, style) }));
  const lines =
    section.kind === "lines"
      ? wrapProseLines(section.lines, innerStyle).map((text) => ({ text }))
      : renderSectionTable(section, innerStyle);
  return [...title, ...lines.map((line) => ({ ...line, text: INDENT + line.text }))];
}

function renderSectionTable(section: Section & { kind: "table" }, style: OutputStyle): DetailLine[] {
  const { head, rows } = renderGrid({ columns: buildColumns(section), rows: section.rows, wall: 0 }, style);
  const lines = rows.flatMap((texts, at) => texts.map((text) => ({ text, target: section.targets?.[at] })));
  return [{ text: head }, ...lines];
}

function buildColumns({ columns, rows }: Section & { kind: "table" }): TableColumn<DetailRow>[] {
  return columns.map((column, at) => ({
    ...{ ...column, id: String(at), formatCell: (row: DetailRow) => row[at]?.text ?? "" },
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
