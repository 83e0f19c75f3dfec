import { stripStyles } from "../base/text.ts";
import type { CommandIo } from "../commands/spec.ts";
import type { Display } from "./display.ts";
import { formatSpokenConnection, renderSpokenLines, type SpokenLinesParts } from "./panes/spoken-lines.ts";

/**
 * Prints lines one after the other, for screen readers. Each line describes the effect of a key. Changes in the data
 * are not printed.
 */
export class PlainDisplay implements Display {
  readonly isComplete = true;
  readonly #io: CommandIo;
  #location = "";
  #toast: unknown;
  #kind = "";

  constructor(io: CommandIo) {
    this.#io = io;
  }

  begin(): void {
    this.#location = "";
  }

  end(): void {}

  show(app: SpokenLinesParts): boolean {
    const lines = [
      ...this.#describeConnection(app),
      ...this.#describeToast(app),
      ...this.#describeLocation(app),
    ];
    return lines.length === 0 || this.#io.writeOutput(`${lines.join("\n")}\n`);
  }

  forget(): void {
    this.#location = "";
  }

  #describeConnection(app: SpokenLinesParts): string[] {
    const { connection, past } = app.liveView;
    const kind = `${connection.kind} ${past?.revision ?? ""}`;
    if (kind === this.#kind) return [];
    this.#kind = kind;
    return [formatSpokenConnection(app)];
  }

  #describeToast({ state: { toast } }: SpokenLinesParts): string[] {
    if (toast === undefined || toast === this.#toast) return [];
    this.#toast = toast;
    return [toast.text];
  }

  /** Describes the position only if the user has moved, or the contents of an overlay have changed. */
  #describeLocation(app: SpokenLinesParts): string[] {
    const lines = renderSpokenLines(app).map(stripStyles);
    const { focus, tab, tabs, explorer, panel } = app.state;
    const where = [
      focus,
      tab,
      tabs[tab].cursor.key,
      tabs[tab].marks.size,
      tabs[tab].filter,
      app.table.length > 0,
      app.liveView.hasRead,
    ];
    const overlay = app.overlays.top === undefined ? "" : lines.join("\n");
    const location = JSON.stringify([...where, explorer.cursor.key, panel.id, panel.cursor.key, overlay]);
    if (location === this.#location) return [];
    this.#location = location;
    return lines;
  }
}
