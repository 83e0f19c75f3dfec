import { clean } from "../../base/text.ts";
import type { LineReport, Migration } from "./lines/migration.ts";

/** Formats the notes about a rewritten crontab, one per line. */
export function formatRemarks(file: string, { lines }: Migration): string {
  return lines.flatMap((report) => formatLineRemarks(file, report)).join("");
}

function formatLineRemarks(file: string, { line, notes, reason }: LineReport): string[] {
  const where = `${clean(file)}:${line}`;
  return [
    ...notes.map((note) => `${where}: ${clean(note)}\n`),
    ...(reason === undefined ? [] : [`${where}: unchanged: ${clean(reason)}\n`]),
  ];
}

/** Formats what would change in a crontab. */
export function formatCheckReport(file: string, { lines }: Migration): string {
  const changed = lines.filter(({ before, after }) => before !== after);
  const kept = lines.filter(({ reason }) => reason !== undefined);
  const body = lines.flatMap((report) => {
    const { line, before, after } = report;
    const change = before === after ? [] : [`${clean(file)}:${line}: would become: ${clean(after)}\n`];
    return [...change, ...formatLineRemarks(file, report)];
  });
  const sum = `${formatLineCount(changed.length)} would change, ${formatLineCount(kept.length)} cannot be translated`;
  return `${body.join("")}${changed.length + kept.length === 0 ? "nothing to do" : sum}\n`;
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
      ...{ line, state: before === after ? (reason === undefined ? "unchanged" : "kept") : "changed" },
      ...{ tools, before, after, notes, reason: reason ?? null },
    })),
    text,
  };
}
