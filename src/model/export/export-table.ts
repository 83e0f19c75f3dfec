import { computeDisplayWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import type { TableColumn } from "../views/view.ts";

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
  const padCell = (text: string, at: number) => {
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - computeDisplayWidth(text)));
    return columns[at]?.align === "right" ? space + text : text + space;
  };
  return lines.map((cells) => `${cells.map(padCell).join("  ").trimEnd()}\n`).join("");
}
