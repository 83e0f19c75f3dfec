import type { ExportTable } from "./export-table.ts";

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
