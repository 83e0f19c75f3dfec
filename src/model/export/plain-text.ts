import { computeDisplayWidth } from "../../base/display-width.ts";
import type { ExportTable } from "./export-table.ts";

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
