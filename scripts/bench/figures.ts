/** Quantiles, and tables with aligned columns. */

/** @param part  0 for the minimum, 0.5 for the median, 1 for the maximum */
export function computeQuantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)] ?? Number.NaN;
}

export const computeMedian = (values: readonly number[]) => computeQuantile(values, 0.5);

export const computeMean = (values: readonly number[]) =>
  values.reduce((sum, one) => sum + one, 0) / values.length;

/** Formats a number with one decimal place by default; a dash if it is missing. */
export const formatNumber = (value: number | undefined, places = 1) =>
  value === undefined || Number.isNaN(value) ? "-" : value.toFixed(places);

/** Prints a table. All columns but the first are numbers, aligned right. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const formatLine = (cells: readonly string[]) =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width));
  console.log([`\n${title}`, ...[head, rule, ...rows].map((cells) => `  ${formatLine(cells)}`)].join("\n"));
}

export function printNote(text: string): void {
  console.log(`  ${text}`);
}
