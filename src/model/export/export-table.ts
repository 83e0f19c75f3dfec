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
