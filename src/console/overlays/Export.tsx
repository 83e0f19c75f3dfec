import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { useState } from "react";
import { renderDetailText } from "../../cli/commands/see/detail.ts";
import { wrapText } from "../../cli/commands/see/grid.ts";
import { formatJsonDocument } from "../../cli/frame/json-output.ts";
import type { Detail } from "../../cli/views/detail.ts";
import {
  type ExportTable,
  formatCsv,
  formatMarkdownDetail,
  formatMarkdownTable,
  formatMarkdownText,
  formatTextTable,
} from "../../cli/views/export-table.ts";
import { clean, quoteText } from "../../core/base/text.ts";
import { createRow, type RowCell, type RowModel } from "../theme/Row.tsx";
import { OverlayFrame, useField, useKeys, useOverlay } from "./OverlayFrame.tsx";

/** Asks where to write a document, and writes it. */
export function ExportPrompt({ document }: { document: ExportDocument }) {
  const { app, width, close } = useOverlay(100);
  const formats = listExportFormats(document);
  const name = formatExportName(document.name, formats[0] ?? "txt", app.getPresentTime());
  const field = useField(join(process.cwd(), name));
  const [note, setNote] = useState<string>();
  /** The path of a file that the user was asked whether to replace. */
  const [asked, setAsked] = useState<string>();
  const [isWriting, setWriting] = useState(false);
  const typed = field.text.trim();
  const format = formats.find((one) => one === findExportFormat(typed));
  const forget = () => {
    setNote(undefined);
    setAsked(undefined);
  };
  /** The extension of the file name is the format. */
  const changeFormat = (by: 1 | -1) => {
    const at = format === undefined ? -1 : formats.indexOf(format);
    const next = formats[(at + by + formats.length) % formats.length] ?? "txt";
    field.setText(`${format === undefined ? typed : typed.replace(/\.[a-z]+$/i, "")}.${next}`);
    forget();
  };
  const write = async () => {
    if (typed === "") return setNote("type the name of a file");
    if (format === undefined)
      return setNote(`the file must end in one of ${formats.map((one) => `.${one}`).join(", ")}`);
    const path = resolve(expandHome(typed));
    setWriting(true);
    const { writeExport } = await import("./write-export.ts"); // seldom needed, and slow to load
    const result = await writeExport(path, formatExport(document, format), asked === path);
    setWriting(false);
    if (result.kind === "fault") return setNote(result.text);
    if (result.kind === "exists") {
      setAsked(path);
      return setNote(`${quoteText(path, 200)} exists; Enter replaces it`);
    }
    close();
    app.links?.setWritten(clean(path), path);
    app.showToast(`wrote ${clean(path)}`);
  };
  const keys = {
    enter: () => void write(),
    tab: () => changeFormat(1),
    "shift+tab": () => changeFormat(-1),
  };
  useKeys(
    isWriting ? { escape: undefined } : keys,
    (_, event) => !isWriting && field.edit(event) && forget(),
  );
  return (
    <OverlayFrame
      title={`export ${document.name}`}
      rows={[
        { cells: [{ text: "file   ", role: "key" }, ...field.buildCells(width - 7)] },
        buildFormatRow(formats, format),
        ...(note === undefined ? [] : wrapText(note, width).map((text) => createRow(text, "problem"))),
      ]}
      hints={[
        ["Enter", asked === undefined ? "write" : "replace"],
        ["Tab", "format"],
      ]}
      escape="cancel"
      width={width}
    />
  );
}

function buildFormatRow(formats: readonly ExportFormat[], active: ExportFormat | undefined): RowModel {
  const cells = formats.flatMap((format): RowCell[] => [
    { text: format, role: format === active ? "match" : "quiet" },
    { text: "  " },
  ]);
  return { cells: [{ text: "format ", role: "key" }, ...cells] };
}

/** Formats the default file name: the name of the content, and the time in UTC. */
export function formatExportName(name: string, format: ExportFormat, wall: number): string {
  const time = new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const plain = clean(name)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);
  return `signalbox-${plain || "export"}-${time}.${format}`;
}

/** Replaces a leading `~` by the home directory, as shells do. */
function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(process.env.HOME || homedir(), path.slice(1)) : path;
}

const EXPORT_FORMATS = ["txt", "csv", "json", "md"] as const;
/** A format, which is also the extension of the file. */
type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A document to export: a table, a detail, or the text of an overlay. */
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
