import { clean } from "../../base/text.ts";
import type { LineReport, Migration } from "./crontab.ts";

/** What is to be said of a crontab that was rewritten, a line each. */
export function remarks(file: string, { lines }: Migration): string {
  return lines.flatMap((report) => remarksOf(file, report)).join("");
}

function remarksOf(file: string, { line, notes, reason }: LineReport): string[] {
  const where = `${clean(file)}:${line}`;
  return [
    ...notes.map((note) => `${where}: ${clean(note)}\n`),
    ...(reason === undefined ? [] : [`${where}: stays as it is: ${clean(reason)}\n`]),
  ];
}

/** What would become of a crontab. */
export function reportLines(file: string, { lines }: Migration): string {
  const changed = lines.filter(({ before, after }) => before !== after);
  const kept = lines.filter(({ reason }) => reason !== undefined);
  const body = lines.flatMap((report) => {
    const { line, before, after } = report;
    const change = before === after ? [] : [`${clean(file)}:${line}: would become: ${clean(after)}\n`];
    return [...change, ...remarksOf(file, report)];
  });
  const sum = `${counted(changed.length)} would change, ${counted(kept.length)} cannot be translated`;
  return `${body.join("")}${changed.length + kept.length === 0 ? "nothing is to do" : sum}\n`;
}

function counted(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}

/** For scripts: lines that change, cannot be translated, or are to be said something about; and the whole new text. */
export function documentOf(
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
