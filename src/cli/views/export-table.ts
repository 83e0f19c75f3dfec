import { computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import type { Detail, Section } from "./detail.ts";
import { fitText } from "./drawing.ts";
import type { TableColumn } from "./view.ts";

/** A table to write into a file. Its cells are clean. */
export interface ExportTable {
  title: string;
  columns: readonly { id: string; title: string; align?: "right" | undefined }[];
  rows: readonly (readonly string[])[];
}

/** Builds the table of rows as they are shown, with the given columns. @param wall  wall clock, ms since the epoch */
export function buildExportTable<R>(
  title: string,
  columns: readonly TableColumn<R>[],
  rows: readonly R[],
  wall: number,
): ExportTable {
  return {
    title: clean(title),
    columns: columns.map(({ id, title: heading, align }) => ({ id, title: heading, align })),
    rows: rows.map((row) => columns.map((column) => clean(column.formatCell(row, wall)).trim())),
  };
}

/** Formats a table as CSV of RFC 4180: the ids of the columns, then the rows; every line ends with CR LF. */
export function formatCsv({ columns, rows }: ExportTable): string {
  const lines = [columns.map(({ id }) => id), ...rows];
  return lines.map((cells) => `${cells.map(formatCsvCell).join(",")}\r\n`).join("");
}

const NUMBER = /^[-+]?\d+(\.\d+)?$/;

/**
 * Formats a cell. Spreadsheets run a cell as a formula if it begins with `=`, `+`, `-` or `@`, and the names in etcd
 * come from anybody, so such cells begin with an apostrophe, except numbers.
 */
function formatCsvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats a table as text in columns, without a limit of width. */
export function formatTextTable({ columns, rows }: ExportTable): string {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, at) =>
    lines.reduce((most, cells) => Math.max(most, computeDisplayWidth(cells[at] ?? "")), 0),
  );
  const padCell = (text: string, at: number) => fitText(text, widths[at] ?? 0, columns[at]?.align);
  return lines.map((cells) => `${cells.map(padCell).join("  ").trimEnd()}\n`).join("");
}

/** Formats a table as a heading and a table of GitHub's Markdown. */
export function formatMarkdownTable({ title, columns, rows }: ExportTable): string {
  return [`# ${escapeMarkdown(title)}`, "", ...formatTableLines(columns, rows), ""].join("\n");
}

/** Formats a detail: its facts as a list, its tables as tables, its texts as code. */
export function formatMarkdownDetail({ heading, evidence = [], facts, sections }: Detail): string {
  return [
    `# ${escapeMarkdown(clean(heading))}`,
    "",
    ...facts.map(
      ({ label, value }) => `- **${escapeMarkdown(clean(label))}**: ${escapeMarkdown(clean(value))}`,
    ),
    ...evidence.concat(sections).flatMap(formatSection),
    "",
  ].join("\n");
}

/** Formats lines as code, which Markdown leaves as they are. */
export function formatMarkdownText(title: string, lines: readonly string[]): string {
  return [`# ${escapeMarkdown(clean(title))}`, "", ...fenceLines(lines), ""].join("\n");
}

function formatSection(section: Section): string[] {
  const title = ["", `## ${escapeMarkdown(clean(section.title))}`, ""];
  if (section.kind === "lines") return [...title, ...fenceLines(section.lines)];
  const rows = section.rows.map((row) => row.map(({ text }) => clean(text)));
  return [...title, ...formatTableLines(section.columns, rows)];
}

function formatTableLines(
  columns: readonly { title: string; align?: "right" | undefined }[],
  rows: readonly (readonly string[])[],
): string[] {
  const formatRow = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  const rule = columns.map(({ align }) => (align === "right" ? "---:" : "---"));
  return [formatRow(columns.map(({ title }) => title)), `| ${rule.join(" | ")} |`, ...rows.map(formatRow)];
}

/** Encloses lines in a fence that is longer than any in them. */
function fenceLines(lines: readonly string[]): string[] {
  const texts = lines.map((line) => clean(line));
  const longest = Math.max(
    2,
    ...texts.flatMap((text) => (text.match(/`+/g) ?? []).map(({ length }) => length)),
  );
  const fence = "`".repeat(longest + 1);
  return [`${fence}text`, ...texts, fence];
}

/** Escapes everything that Markdown or HTML could read as a mark. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~&#!]/g, "\\$&");
}
