import { computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import { fitText } from "../views/drawing.ts";

/**
 * Longest cell, in characters. A value in etcd can have 1.5 MB, and every row is as wide as the widest cell; `--json` has
 * the whole.
 */
const MAX_CELL_LENGTH = 1_000;

/** Renders a table for people. Columns are as wide as necessary, and cells are cleaned of control characters and cut. */
export function renderTextTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => clean(cell, MAX_CELL_LENGTH) || "-"));
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => computeDisplayWidth(line[column] ?? ""))),
  );
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => fitText(cell, widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
