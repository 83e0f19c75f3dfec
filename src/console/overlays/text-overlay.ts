import { cleanToWidth } from "../../base/display-width.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Hint, Overlay, OverlayModel } from "../parts/overlay.ts";
import { scrollBy } from "../state/cursor.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { computeCellsWidth, joinCellTexts, type RowModel } from "../theme/cells.ts";
import { openExportOverlay } from "./export-overlay.ts";

/** A text to show. */
interface TextOverlayOptions {
  title: string;
  /** Builds the rows for a width. Called for every frame, so they may change. */
  buildRows(width: number): readonly RowModel[];
  /** Additional keys, by chord. */
  keys?: Readonly<Record<string, () => void>>;
  hints?: readonly Hint[];
  /** Shows the end of a text that grows, until the user scrolls up. */
  followsEnd?: boolean;
  /** Whether `O` exports all lines of the text, under its title. */
  canExport?: true;
  onClose?(): void;
}

/** A width that wraps no usual line, columns. */
const UNWRAPPED = 1_000;
/** Columns of a text that is exported. */
const EXPORT_WIDTH = 110;

/** Shows a text: the help, the reason for a wait, the output of a command. */
export function openText(app: ConsoleParts, options: TextOverlayOptions): TextOverlay {
  const overlay = new TextOverlay(app, options);
  app.overlays.open(overlay);
  return overlay;
}

export class TextOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #options: TextOverlayOptions;
  #top = 0;
  #height = 1;
  /**
   * Set when the rows are built. Before that it is infinite, so a key that arrives first can still scroll to the
   * end.
   */
  #length = Number.POSITIVE_INFINITY;
  #isAtEnd: boolean;

  constructor(app: ConsoleParts, options: TextOverlayOptions) {
    this.#app = app;
    this.#options = options;
    this.#isAtEnd = options.followsEnd ?? false;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#scroll(event.action);
    if (event.kind !== "key") return;
    const own = this.#options.keys?.[event.chord];
    if (own !== undefined) return own();
    if (event.chord === "O" && this.#options.canExport) return this.#export();
    if (["escape", "q", "enter", "?"].includes(event.chord)) return this.#app.overlays.close(this);
    this.#scroll(event.chord);
  }

  #export(): void {
    const { title } = this.#options;
    openExportOverlay(this.#app, { kind: "text", name: title, title, lines: this.#listLines(EXPORT_WIDTH) });
  }

  #listLines(width: number): string[] {
    return this.#options.buildRows(width).map(({ cells }) => joinCellTexts(cells));
  }

  #scroll(by: string): void {
    this.#top = scrollBy(by, this.#top, this.#length, this.#height);
    this.#isAtEnd = this.#options.followsEnd === true && this.#top >= this.#length - this.#height;
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
    const last = this.#length - this.#height;
    this.#top = this.#isAtEnd ? last : Math.max(0, Math.min(this.#top, last));
    const isLong = this.#length > this.#height;
    return {
      title: cleanToWidth(this.#options.title, 60),
      content: { kind: "text", rows: rows.slice(this.#top, this.#top + this.#height) },
      hints: [
        ...(isLong ? ([["↑↓ PgUp PgDn", "scroll"]] as const) : []),
        ...(this.#options.hints ?? []),
        ...(this.#options.canExport ? ([["O", "export"]] as const) : []),
        ["Esc", "close"],
      ],
      width,
      at: "middle",
    };
  }

  getText(): readonly string[] {
    return this.#listLines(UNWRAPPED);
  }

  onClose(): void {
    this.#options.onClose?.();
  }
}
