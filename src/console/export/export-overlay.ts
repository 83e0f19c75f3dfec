import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { clean, quoteText } from "../../base/text.ts";
import { wrapText } from "../../commands/see/wrap.ts";
import { editField } from "../overlays/field/edit.ts";
import { createField, type TextField } from "../overlays/field/field.ts";
import { buildFieldCells } from "../overlays/field/field-cells.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type {
  ChangeNotifier,
  OverlayAccess,
  SettingsAccess,
  ThemeAccess,
  ToastAccess,
} from "../parts/parts.ts";
import type { InputEvent } from "../terminal/input/event.ts";
import { createRow, type RowCell, type RowModel } from "../theme/cells.ts";
import {
  type ExportDocument,
  type ExportFormat,
  findExportFormat,
  formatExport,
  listExportFormats,
} from "./export-document.ts";

export type ExportParts = ChangeNotifier & OverlayAccess & SettingsAccess & ThemeAccess & ToastAccess;

/** Asks where to write a document, and writes it. */
export function openExportOverlay(app: ExportParts, document: ExportDocument): void {
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
  readonly #app: ExportParts;
  readonly #document: ExportDocument;
  readonly #formats: readonly ExportFormat[];
  #field: TextField;
  #note: { text: string; role: "problem" | "quiet" } | undefined;
  /** The path for which the user was asked whether to replace the file. */
  #asked: string | undefined;
  #isWriting = false;

  constructor(app: ExportParts, document: ExportDocument) {
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
