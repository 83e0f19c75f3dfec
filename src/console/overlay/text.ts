import { displayWidth } from "../../base/text.ts";
import type { InputEvent } from "../input/event.ts";
import type { Hint, Overlay, OverlayPicture } from "./overlay.ts";
import { scrollBy } from "./scroll.ts";

/** What a text overlay needs of whoever opens it. */
export interface TextWish {
  title: string;
  /** Painted lines for a width; asked for again with every frame, so they may change. */
  lines(width: number): readonly string[];
  close(): void;
  onChange(): void;
  /** More keys, by chord. */
  keys?: Readonly<Record<string, () => void>>;
  hints?: readonly Hint[];
  onClose?(): void;
}

/** A text to read: help, why somebody waits, what a command has said. */
export class TextOverlay implements Overlay {
  readonly #wish: TextWish;
  #top = 0;
  #height = 1;
  /** Known once it is painted; a key that came with the one that opened it may go to the end before. */
  #length = Number.POSITIVE_INFINITY;

  constructor(wish: TextWish) {
    this.#wish = wish;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#scroll(event.action);
    if (event.kind !== "key") return;
    const own = this.#wish.keys?.[event.chord];
    if (own !== undefined) return own();
    if (["escape", "q", "enter", "?"].includes(event.chord)) return this.#wish.close();
    this.#scroll(event.chord);
  }

  #scroll(by: string): void {
    this.#top = scrollBy(by, this.#top, this.#length, this.#height);
    this.#wish.onChange();
  }

  paint(room: { width: number; height: number }): OverlayPicture {
    const widest = Math.min(room.width, 110);
    const lines = this.#wish.lines(widest);
    const width = Math.max(30, Math.min(widest, Math.max(...lines.map(shownWidth), 0)));
    this.#length = lines.length;
    this.#height = Math.max(1, Math.min(room.height, lines.length));
    this.#top = Math.max(0, Math.min(this.#top, this.#length - this.#height));
    const isLong = this.#length > this.#height;
    return {
      title: this.#wish.title,
      lines: lines.slice(this.#top, this.#top + this.#height),
      hints: [
        ...(isLong ? ([["↑↓ PgUp PgDn", "scroll"]] as const) : []),
        ...(this.#wish.hints ?? []),
        ["Esc", "close"],
      ],
      ...{ width, at: "middle" },
    };
  }

  onClose(): void {
    this.#wish.onClose?.();
  }
}

function shownWidth(line: string): number {
  return displayWidth(line.replaceAll(/\x1b\[[0-9;:]*m/g, ""));
}
