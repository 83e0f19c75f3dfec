import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { clean, quoteText } from "../../base/text.ts";
import { formatJsonDocument } from "../../commands/json-output.ts";
import { renderDetailText } from "../../commands/see/detail.ts";
import { wrapText } from "../../commands/see/grid.ts";
import type { Detail } from "../../views/detail.ts";
import {
  type ExportTable,
  formatCsv,
  formatMarkdownDetail,
  formatMarkdownTable,
  formatMarkdownText,
  formatTextTable,
} from "../../views/export-table.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow, type RowCell, type RowModel } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/** Asks where to write a document, and writes it. */
export function openExportOverlay(app: ConsoleParts, document: ExportDocument): void {
  app.overlays.open(new ExportOverlay(app, document));
}

/** Formats the default file name: what it is, and when, in UTC. */
export function formatExportName(name: string, format: ExportFormat, wall: number): string {
  const time = new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const plain = clean(name)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);
  return `signalbox-${plain || "export"}-${time}.${format}`;
}

class ExportOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #document: ExportDocument;
  readonly #formats: readonly ExportFormat[];
  #field: TextField;
  #note: { text: string; role: "problem" | "quiet" } | undefined;
  /** The path for which the user was asked whether to replace the file. */
  #asked: string | undefined;
  #isWriting = false;

  constructor(app: ConsoleParts, document: ExportDocument) {
    this.#app = app;
    this.#document = document;
    this.#formats = listExportFormats(document);
    const name = formatExportName(document.name, this.#formats[0] ?? "txt", app.context.clock.getWallTime());
    this.#field = createField(join(process.cwd(), name));
  }

  onInput(event: InputEvent): void {
    if (this.#isWriting) return;
    if (event.kind === "key" && event.chord === "escape") return this.#app.overlays.close(this);
    if (event.kind === "key" && event.chord === "enter") void this.#write();
    else if (event.kind === "key" && event.chord === "tab") this.#changeFormat(1);
    else if (event.kind === "key" && event.chord === "shift+tab") this.#changeFormat(-1);
    else {
      const next = editField(this.#field, event);
      if (next === undefined || next === this.#field) return;
      this.#field = next;
      this.#note = undefined;
      this.#asked = undefined;
    }
    this.#app.notifyChange();
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(100, available.width);
    const note = this.#note;
    return {
      title: `export ${clean(this.#document.name, 40)}`,
      content: {
        kind: "text",
        rows: [
          { cells: [{ text: "file   ", role: "key" }, ...buildFieldCells(this.#field, width - 7)] },
          this.#buildFormatRow(),
          ...(note === undefined ? [] : wrapText(note.text, width).map((text) => createRow(text, note.role))),
        ],
      },
      hints: [
        ["Enter", this.#asked === undefined ? "write" : "replace"],
        ["Tab", "format"],
        ["Esc", "cancel"],
      ],
      width,
      at: "middle",
    };
  }

  #buildFormatRow(): RowModel {
    const active = this.#findFormat();
    const formats = this.#formats.flatMap((format): RowCell[] => [
      { text: format, role: format === active ? "match" : "quiet" },
      { text: "  " },
    ]);
    return { cells: [{ text: "format ", role: "key" }, ...formats] };
  }

  #findFormat(): ExportFormat | undefined {
    const format = findExportFormat(this.#field.text.trim());
    return this.#formats.find((one) => one === format);
  }

  /** Changes the extension of the file name, which is the format. */
  #changeFormat(by: 1 | -1): void {
    const active = this.#findFormat();
    const at = active === undefined ? -1 : this.#formats.indexOf(active);
    const next = this.#formats[(at + by + this.#formats.length) % this.#formats.length] ?? "txt";
    const stem =
      active === undefined ? this.#field.text.trim() : this.#field.text.trim().replace(/\.[a-z]+$/i, "");
    this.#field = createField(`${stem}.${next}`);
    this.#asked = undefined;
    this.#note = undefined;
  }

  async #write(): Promise<void> {
    const typed = this.#field.text.trim();
    const format = this.#findFormat();
    if (typed === "") return this.#show("type the name of a file");
    if (format === undefined)
      return this.#show(`the file must end in one of ${this.#formats.map((one) => `.${one}`).join(", ")}`);
    const path = resolve(expandHome(typed));
    this.#isWriting = true;
    const { writeExport } = await import("./write-export.ts"); // seldom needed, and slow to load
    const result = await writeExport(path, formatExport(this.#document, format), this.#asked === path);
    this.#isWriting = false;
    if (result.kind === "fault") return this.#show(result.text);
    if (result.kind === "exists") {
      this.#asked = path;
      return this.#show(`${quoteText(path, 200)} exists; Enter replaces it`);
    }
    this.#app.overlays.close(this);
    this.#app.showToast(`wrote ${clean(path)}`);
  }

  #show(text: string): void {
    this.#note = { text, role: "problem" };
    this.#app.notifyChange();
  }
}

/** Replaces `~` at the beginning by the home directory, as shells do. */
function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(process.env.HOME || homedir(), path.slice(1)) : path;
}

const EXPORT_FORMATS = ["txt", "csv", "json", "md"] as const;
/** A format, which is also the extension of the file. */
type ExportFormat = (typeof EXPORT_FORMATS)[number];

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
