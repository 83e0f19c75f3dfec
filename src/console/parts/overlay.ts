import type { InputEvent } from "../terminal/input/event.ts";
import type { RowModel } from "../theme/cells.ts";

/** A box over the rest of the screen. It has the keyboard while it is open. */
export interface Overlay {
  /** Receives every key, paste and click. */
  onInput(event: InputEvent): void;
  /** @param available  maximum columns and rows, without the frame */
  buildModel(available: { width: number; height: number }): OverlayModel;
  /** Called when the overlay is removed, by itself or by other code. */
  onClose?(): void;
}

/** What an overlay shows. */
export interface OverlayModel {
  title: string;
  /** From the top. */
  rows: readonly RowModel[];
  /** Keys and their effects: the hints of this context. */
  hints: readonly Hint[];
  /** Columns, without the frame. */
  width: number;
  /** Position: below the header (the palette), in the middle, or as a line above the status bar. */
  at: "top" | "middle" | "bottom";
  tone?: "plain" | "danger";
}

/** An overlay at its position. */
export interface OverlayBoxModel {
  left: number;
  top: number;
  model: OverlayModel;
}

export type Hint = readonly [key: string, what: string];

/** The stack of overlays. The last one has the keyboard. */
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

  /** Removes an overlay and those above it. Does nothing if it is already closed. */
  close(overlay: Overlay): void {
    const at = this.#stack.indexOf(overlay);
    if (at < 0) return;
    for (const gone of this.#stack.splice(at)) gone.onClose?.();
    this.#onChange();
  }
}
