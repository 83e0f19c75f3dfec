import type { InputEvent } from "../input/event.ts";

/** What stands over the rest of the screen, and has the keyboard while it does. */
export interface Overlay {
  /** Every key, paste and click comes here. */
  onInput(event: InputEvent): void;
  /** @param room  columns and rows that it may take at most, without its frame */
  paint(room: { width: number; height: number }): OverlayPicture;
  /** Told when it is taken away, whoever does so. */
  onClose?(): void;
}

/** An overlay as it is painted. */
export interface OverlayPicture {
  title: string;
  /** Painted, and fit for the width. */
  lines: readonly string[];
  /** Keys and what they do here: the context's hints. */
  hints: readonly Hint[];
  /** Columns, without the frame. */
  width: number;
  /** Where it stands: below the header as a palette, in the middle, or as a line above the status bar. */
  at: "top" | "middle" | "bottom";
  tone?: "plain" | "danger";
}

export type Hint = readonly [key: string, what: string];

/** The one stack of overlays: the last has the keyboard. */
export class Overlays {
  readonly #stack: Overlay[] = [];
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get all(): readonly Overlay[] {
    return this.#stack;
  }

  get top(): Overlay | undefined {
    return this.#stack.at(-1);
  }

  open(overlay: Overlay): void {
    this.#stack.push(overlay);
    this.#onChange();
  }

  /** Takes one away, with those above it. One that is gone already is no error. */
  close(overlay: Overlay): void {
    const at = this.#stack.indexOf(overlay);
    if (at < 0) return;
    for (const gone of this.#stack.splice(at)) gone.onClose?.();
    this.#onChange();
  }
}
