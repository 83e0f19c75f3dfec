import type { WallTime } from "../../core/base/clock.ts";
import { clean } from "../../core/base/text.ts";
import type { TableColumn } from "./view.ts";

/** A table to write into a file. Its cells are clean. */
export interface ExportTable {
  title: string;
  columns: readonly { id: string; title: string; align?: "right" | undefined }[];
  rows: readonly (readonly string[])[];
}

/** Builds the table of rows as they are shown, with the given columns. */
export function buildExportTable<R>(
  title: string,
  columns: readonly TableColumn<R>[],
  rows: readonly R[],
  wall: WallTime,
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

/** Formats a table as a heading and a table of GitHub's Markdown. */
export function formatMarkdownTable({ title, columns, rows }: ExportTable): string {
  return [`# ${escapeMarkdown(title)}`, "", ...formatTableLines(columns, rows), ""].join("\n");
}

function formatTableLines(
  columns: readonly { title: string; align?: "right" | undefined }[],
  rows: readonly (readonly string[])[],
): string[] {
  const formatRow = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  const rule = columns.map(({ align }) => (align === "right" ? "---:" : "---"));
  return [formatRow(columns.map(({ title }) => title)), `| ${rule.join(" | ")} |`, ...rows.map(formatRow)];
}

/** Escapes everything that Markdown or HTML could read as a mark. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~&#!]/g, "\\$&");
}
