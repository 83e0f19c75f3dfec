import type { Hint, Overlay, OverlayModel } from "../parts/overlay.ts";
import type { ChangeNotifier, OverlayAccess } from "../parts/parts.ts";
import type { InputEvent } from "../terminal/input/event.ts";
import { computeCellsWidth, type RowModel } from "../theme/cells.ts";

/** A row of a list, and what Enter does there. */
export interface ListRow extends RowModel {
  /** Stays the same while the row is about the same thing. */
  key: string;
  /** Undefined for rows that lead nowhere: the cursor skips them. */
  open?: (() => void) | undefined;
}

export interface RowListOptions {
  title: string;
  /** Returns the rows. Called for every frame, so they may change. */
  listRows(): readonly ListRow[];
  hints?: readonly Hint[];
}

const WIDEST = 110;

/** Shows rows of which some lead somewhere. @returns what closes the list */
export function openRowList(app: ChangeNotifier & OverlayAccess, options: RowListOptions): { close(): void } {
  const overlay = new RowListOverlay(app, options);
  app.overlays.open(overlay);
  return { close: () => app.overlays.close(overlay) };
}

class RowListOverlay implements Overlay {
  readonly #app: ChangeNotifier & OverlayAccess;
  readonly #options: RowListOptions;
  #rows: readonly ListRow[];
  #at: number;
  #top = 0;
  #height = 1;

  constructor(app: ChangeNotifier & OverlayAccess, options: RowListOptions) {
    this.#app = app;
    this.#options = options;
    this.#rows = options.listRows();
    this.#at = this.#rows.findIndex(isTarget);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse")
      return this.#move(event.action === "wheel-down" ? 1 : event.action === "wheel-up" ? -1 : 0);
    if (event.kind !== "key") return;
    if (event.chord === "escape" || event.chord === "q") return this.#app.overlays.close(this);
    if (event.chord === "enter") return this.#rows[this.#at]?.open?.();
    this.#move(this.#computeStep(event.chord));
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    this.#update(this.#options.listRows());
    const widest = Math.min(WIDEST, available.width);
    const width = Math.max(
      40,
      Math.min(widest, Math.max(...this.#rows.map(({ cells }) => computeCellsWidth(cells)))),
    );
    this.#height = Math.max(1, Math.min(available.height, this.#rows.length));
    const last = Math.max(0, this.#rows.length - this.#height);
    const top = Math.max(this.#at - this.#height + 1, Math.min(this.#top, Math.max(0, this.#at - 1)));
    this.#top = Math.max(0, Math.min(last, top));
    const rows = this.#rows.slice(this.#top, this.#top + this.#height).map(
      (row, index): RowModel => ({
        cells: row.cells,
        selection: this.#top + index === this.#at ? "focused" : undefined,
      }),
    );
    const keys: Hint[] =
      this.#at < 0
        ? []
        : [
            ["↑↓", "select"],
            ["Enter", "go there"],
          ];
    return {
      title: this.#options.title,
      content: { kind: "text", rows },
      hints: [...keys, ...(this.#options.hints ?? []), ["Esc", "close"]],
      width: Math.min(width, available.width),
      at: "middle",
    };
  }

  /** Keeps the cursor on its row while rows come and go. */
  #update(rows: readonly ListRow[]): void {
    if (rows === this.#rows) return;
    const key = this.#rows[this.#at]?.key;
    this.#rows = rows;
    const same = rows.findIndex((row) => row.key === key);
    const near = rows.findIndex((row, index) => index >= this.#at && isTarget(row));
    this.#at = same >= 0 ? same : near >= 0 ? near : rows.findLastIndex(isTarget);
  }

  #computeStep(chord: string): number {
    switch (chord) {
      case "down":
      case "j":
        return 1;
      case "up":
      case "k":
        return -1;
      case "pagedown":
        return this.#height;
      case "pageup":
        return -this.#height;
      case "g":
      case "home":
        return -this.#rows.length;
      case "G":
      case "end":
        return this.#rows.length;
      default:
        return 0;
    }
  }

  /** Moves the cursor by rows, to the nearest one beyond that leads somewhere. */
  #move(by: number): void {
    const to = Math.max(0, Math.min(this.#rows.length - 1, this.#at + by));
    const ahead =
      by > 0
        ? this.#rows.findIndex((row, index) => index >= to && isTarget(row))
        : this.#rows.findLastIndex((row, index) => index <= to && isTarget(row));
    const end = by > 0 ? this.#rows.findLastIndex(isTarget) : this.#rows.findIndex(isTarget);
    this.#at = ahead >= 0 ? ahead : end;
    this.#app.notifyChange();
  }
}

function isTarget({ open }: ListRow): boolean {
  return open !== undefined;
}
