import { clean } from "../../base/text.ts";
import type { Detail, Section } from "../detail/detail.ts";
import type { ExportTable } from "./export-table.ts";

/** Formats a table as a heading and a table of GitHub's Markdown. */
export function formatMarkdownTable({ title, columns, rows }: ExportTable): string {
  return [`# ${escapeMarkdown(title)}`, "", ...formatTableLines(columns, rows), ""].join("\n");
}

/** Formats a detail: its facts as a list, its tables as tables, its texts as code. */
export function formatMarkdownDetail({ heading, evidence = [], facts, sections }: Detail): string {
  return [
    `# ${escapeMarkdown(clean(heading))}`,
    "",
    ...facts.map(
      ({ label, value }) => `- **${escapeMarkdown(clean(label))}**: ${escapeMarkdown(clean(value))}`,
    ),
    ...[...evidence, ...sections].flatMap(formatSection),
    "",
  ].join("\n");
}

/** Formats lines as code, which Markdown leaves as they are. */
export function formatMarkdownText(title: string, lines: readonly string[]): string {
  return [`# ${escapeMarkdown(clean(title))}`, "", ...fenceLines(lines), ""].join("\n");
}

function formatSection(section: Section): string[] {
  const title = ["", `## ${escapeMarkdown(clean(section.title))}`, ""];
  if (section.kind === "lines") return [...title, ...fenceLines(section.lines)];
  const rows = section.rows.map((row) => row.map(({ text }) => clean(text)));
  return [...title, ...formatTableLines(section.columns, rows)];
}

function formatTableLines(
  columns: readonly { title: string; align?: "right" | undefined }[],
  rows: readonly (readonly string[])[],
): string[] {
  const formatRow = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  const rule = columns.map(({ align }) => (align === "right" ? "---:" : "---"));
  return [formatRow(columns.map(({ title }) => title)), `| ${rule.join(" | ")} |`, ...rows.map(formatRow)];
}

/** Encloses lines in a fence that is longer than any in them. */
function fenceLines(lines: readonly string[]): string[] {
  const texts = lines.map((line) => clean(line));
  const longest = Math.max(
    2,
    ...texts.flatMap((text) => (text.match(/`+/g) ?? []).map(({ length }) => length)),
  );
  const fence = "`".repeat(longest + 1);
  return [`${fence}text`, ...texts, fence];
}

/** Escapes everything that Markdown or HTML could read as a mark. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~&#!]/g, "\\$&");
}
