import { clean } from "../../base/text.ts";
import { formatJsonDocument } from "../../commands/json-output.ts";
import { renderDetailText } from "../../commands/see/detail.ts";
import type { Detail } from "../../model/detail/detail.ts";
import { formatCsv } from "../../model/export/csv.ts";
import type { ExportTable } from "../../model/export/export-table.ts";
import {
  formatMarkdownDetail,
  formatMarkdownTable,
  formatMarkdownText,
} from "../../model/export/markdown.ts";
import { formatTextTable } from "../../model/export/plain-text.ts";

export const EXPORT_FORMATS = ["txt", "csv", "json", "md"] as const;
/** A format, which is also the extension of the file. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What can be exported: a table, a detail, or the text of an overlay. */
export type ExportDocument =
  /** `json`: the rows and how they were chosen. */
  | { kind: "table"; name: string; table: ExportTable; json: object }
  | { kind: "detail"; name: string; detail: Detail }
  | { kind: "text"; name: string; title: string; lines: readonly string[] };

/** Lists the formats of a document, the default first. Only tables can be CSV. */
export function listExportFormats({ kind }: ExportDocument): readonly ExportFormat[] {
  if (kind === "table") return ["csv", "json", "md", "txt"];
  return kind === "detail" ? ["md", "json", "txt"] : ["txt", "md", "json"];
}

/** Finds the format that a file name has. */
export function findExportFormat(path: string): ExportFormat | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  const known = { markdown: "md", text: "txt", log: "txt" }[extension ?? ""] ?? extension;
  return EXPORT_FORMATS.find((format) => format === known);
}

/** Formats a document as the content of a file. */
export function formatExport(document: ExportDocument, format: ExportFormat): string {
  switch (document.kind) {
    case "table":
      return formatTable(document, format);
    case "detail":
      return formatDetail(document.detail, format);
    case "text":
      return formatText(document, format);
  }
}

function formatTable(
  { table, json }: Extract<ExportDocument, { kind: "table" }>,
  format: ExportFormat,
): string {
  if (format === "csv") return formatCsv(table);
  if (format === "json") return formatJsonDocument(json);
  return format === "md" ? formatMarkdownTable(table) : formatTextTable(table);
}

function formatDetail(detail: Detail, format: ExportFormat): string {
  if (format === "json") {
    const { heading, facts, evidence = [], sections } = detail;
    return formatJsonDocument({ heading, facts, sections: [...evidence, ...sections] });
  }
  if (format === "md") return formatMarkdownDetail(detail);
  const style = { colours: false, marks: undefined, width: undefined, arrow: "->" };
  return `${renderDetailText(detail, style).join("\n")}\n`;
}

function formatText(
  { title, lines }: Extract<ExportDocument, { kind: "text" }>,
  format: ExportFormat,
): string {
  const texts = lines.map((line) => clean(line).trimEnd());
  if (format === "json") return formatJsonDocument({ title: clean(title), lines: texts });
  return format === "md" ? formatMarkdownText(title, texts) : `${texts.join("\n")}\n`;
}
