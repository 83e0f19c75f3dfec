import type { InputEvent } from "../terminal/input-event.ts";
import type { RowModel } from "../theme/cells.ts";

/** A box over the rest of the screen. It has the keyboard while it is open. */
export interface Overlay {
  /**
   * Receives every key, paste and click. The position of a click counts from the first column and row of its content, so it
   * is negative to the left of it and above it.
   */
  onInput(event: InputEvent): void;
  /** @param available  maximum columns and rows, without the frame */
  buildModel(available: { width: number; height: number }): OverlayModel;
  /** Returns all its lines, unwrapped, for a pager or an editor. An overlay without text, such as a dialog, has no such function. */
  getText?(): readonly string[];
  /** Called when the overlay is removed, by itself or by other code. */
  onClose?(): void;
}

/** The content of an overlay. */
export interface OverlayModel {
  title: string;
  content: OverlayContent;
  /** Keys and their effects: the hints of this context. */
  hints: readonly Hint[];
  /** Columns, without the frame. */
  width: number;
  at: OverlayPlace;
  tone?: "plain" | "danger";
}

/**
 * Where an overlay is: below the header (the palette), in the middle, as a line above the status bar, or next to a
 * position of the screen, which it does not cover.
 */
export type OverlayPlace = "top" | "middle" | "bottom" | { column: number; row: number };

/** The content of an overlay, by kind. */
export type OverlayContent = TextModel | FilterModel | PaletteModel | DialogModel;

interface TextModel {
  kind: "text";
  rows: readonly RowModel[];
}

interface FilterModel {
  kind: "filter";
  row: RowModel;
  /** Why the filter cannot be used. */
  fault?: RowModel | undefined;
}

export interface PaletteModel {
  kind: "palette";
  field: RowModel;
  matches: readonly RowModel[];
  /** How many were found, or that nothing was. */
  notes: readonly RowModel[];
}

export interface DialogModel {
  kind: "dialog";
  /** What would happen. */
  preview: readonly RowModel[];
  fields: readonly RowModel[];
  /** The same command as a line for a shell. */
  command: RowModel;
  /** What the user must type to confirm, and the field for it; empty if Enter is enough. */
  confirmation: readonly RowModel[];
  /** Why Enter did nothing. */
  faults: readonly RowModel[];
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
  /** The overlays of the last frame at their positions: what a click can hit. */
  shown: readonly OverlayBoxModel[] = [];

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

export const BLANK_ROW: RowModel = { cells: [] };

/** Lists the rows of an overlay's content, from the top. */
export function listContentRows(content: OverlayContent): readonly RowModel[] {
  switch (content.kind) {
    case "text":
      return content.rows;
    case "filter":
      return content.fault === undefined ? [content.row] : [content.row, content.fault];
    case "palette":
      return [content.field, ...content.matches, ...content.notes];
    case "dialog": {
      const { preview, fields, command, confirmation, faults } = content;
      return [...preview, BLANK_ROW, ...fields, BLANK_ROW, command, ...confirmation, ...faults];
    }
  }
}

/** How keys move through a list. */
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  "wheel-up": -1,
  down: 1,
  j: 1,
  "wheel-down": 1,
  pageup: -10,
  pagedown: 10,
  home: -Infinity,
  end: Infinity,
};

/** Returns the index that a key leads to, or undefined for another key. */
export function moveInList(at: number, length: number, chord: string): number | undefined {
  const step = Object.hasOwn(STEPS, chord) ? STEPS[chord] : undefined;
  return step === undefined ? undefined : Math.max(0, Math.min(length - 1, at + step));
}

/** Returns the rows around the selected one that fit, with the selection. */
export function windowRows(rows: readonly RowModel[], at: number, height: number): RowModel[] {
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), rows.length - height));
  return rows
    .map((row, index): RowModel => (index === at ? { ...row, selection: "focused" } : row))
    .slice(top, top + height);
}
