import { clean } from "../../base/text.ts";
import type { LineReport, Migration } from "./lines/migration.ts";

/** Formats the notes about a rewritten crontab, one per line. Equal notes of several lines are written once. */
export function formatRemarks(file: string, { lines }: Migration): string {
  const remarks = lines.flatMap((report) =>
    listLineRemarks(report).map((text) => ({ line: report.line, text })),
  );
  return [...Map.groupBy(remarks, ({ text }) => text).values()]
    .map(([first, ...others]) => `${clean(file)}:${first?.line}: ${first?.text}${formatOtherLines(others)}\n`)
    .join("");
}

function listLineRemarks({ notes, reason }: LineReport): string[] {
  return [
    ...notes.map((note) => clean(note)),
    ...(reason === undefined ? [] : [`unchanged: ${clean(reason)}`]),
  ];
}

/** Lists the other lines with a note: ` (and in lines 4, 7)`. */
function formatOtherLines(others: readonly { line: number }[]): string {
  if (others.length === 0) return "";
  const shown = others.slice(0, 10).map(({ line }) => line);
  const more = others.length > shown.length ? ` and ${others.length - shown.length} more` : "";
  return ` (and in line${others.length === 1 ? "" : "s"} ${shown.join(", ")}${more})`;
}

/** Formats what would change in a crontab. */
export function formatCheckReport(file: string, migration: Migration): string {
  const { lines } = migration;
  const changed = lines.filter(({ before, after }) => before !== after);
  const kept = lines.filter(({ reason }) => reason !== undefined);
  const changes = changed.map(({ line, after }) => `${clean(file)}:${line}: would become: ${clean(after)}\n`);
  const sum = `${formatLineCount(changed.length)} would change, ${formatLineCount(kept.length)} cannot be translated`;
  return `${changes.join("")}${formatRemarks(file, migration)}${changed.length + kept.length === 0 ? "nothing to do" : sum}\n`;
}

function formatLineCount(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}

/** Builds the JSON document: the lines that change, cannot be translated or have notes, and the whole new text. */
export function buildMigrationDocument(
  { lines, text }: Migration,
  about: { file: string; format: string; read: readonly string[] },
): object {
  return {
    ...about,
    lines: lines.map(({ line, before, after, tools, notes, reason }) => ({
      line,
      state: before === after ? (reason === undefined ? "unchanged" : "kept") : "changed",
      tools,
      before,
      after,
      notes,
      reason: reason ?? null,
    })),
    text,
  };
}
