import { wrapProseLines } from "../../commands/see/detail.ts";
import type { Hint, Overlay, OverlayModel } from "../parts/overlay.ts";
import type { ConsoleControls, ConsoleData } from "../parts/parts.ts";
import { scrollBy } from "../state/scroll.ts";
import type { InputEvent } from "../terminal/input/event.ts";
import { computeCellsWidth, createRow, type RowModel } from "../theme/cells.ts";

/** What a text overlay shows. */
interface TextOverlayOptions {
  title: string;
  /** Builds the rows for a width. Called for every frame, so they may change. */
  buildRows(width: number): readonly RowModel[];
  /** Additional keys, by chord. Each may close the overlay. */
  keys?: Readonly<Record<string, (close: () => void) => void>>;
  hints?: readonly Hint[];
  onClose?(): void;
}

/** Shows a text: the help, the reason for a wait, the output of a command. */
export function openText(app: ConsoleControls, options: TextOverlayOptions): void {
  app.overlays.open(new TextOverlay(app, options));
}

/** Builds the rows of a text, wrapped between words. */
export function buildProseRows({ theme }: ConsoleData, lines: readonly string[], width: number): RowModel[] {
  return wrapProseLines(lines, theme.createLook(width)).map((line) => createRow(line));
}

class TextOverlay implements Overlay {
  readonly #app: ConsoleControls;
  readonly #options: TextOverlayOptions;
  #top = 0;
  #height = 1;
  /**
   * Set when the rows are built. Before that it is infinite, so a key that arrives first can still scroll to the
   * end.
   */
  #length = Number.POSITIVE_INFINITY;

  constructor(app: ConsoleControls, options: TextOverlayOptions) {
    this.#app = app;
    this.#options = options;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#scroll(event.action);
    if (event.kind !== "key") return;
    const own = this.#options.keys?.[event.chord];
    const close = () => this.#app.overlays.close(this);
    if (own !== undefined) return own(close);
    if (["escape", "q", "enter", "?"].includes(event.chord)) return close();
    this.#scroll(event.chord);
  }

  #scroll(by: string): void {
    this.#top = scrollBy(by, this.#top, this.#length, this.#height);
    this.#app.notifyChange();
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const widest = Math.min(available.width, 110);
    const rows = this.#options.buildRows(widest);
    const width = Math.max(
      30,
      Math.min(widest, Math.max(...rows.map(({ cells }) => computeCellsWidth(cells)), 0)),
    );
    this.#length = rows.length;
    this.#height = Math.max(1, Math.min(available.height, rows.length));
    this.#top = Math.max(0, Math.min(this.#top, this.#length - this.#height));
    const isLong = this.#length > this.#height;
    return {
      title: this.#options.title,
      rows: rows.slice(this.#top, this.#top + this.#height),
      hints: [
        ...(isLong ? ([["↑↓ PgUp PgDn", "scroll"]] as const) : []),
        ...(this.#options.hints ?? []),
        ["Esc", "close"],
      ],
      ...{ width, at: "middle" },
    };
  }

  onClose(): void {
    this.#options.onClose?.();
  }
}
