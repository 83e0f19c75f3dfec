import type { ReactNode } from "react";
import type { InputEvent } from "../terminal/input-event.ts";
import type { RowModel } from "../theme/Row.tsx";

/** A box over the rest of the screen. The last one of the stack has the focus. */
interface OverlayEntry {
  readonly id: number;
  readonly content: ReactNode;
}

/** A key and its effect. */
export type Hint = readonly [key: string, what: string];

/** Hints, in which `condition && hint` is left out if the condition is not met. */
export type Hints = readonly (Hint | false | undefined)[];

/** The text of an overlay, for users who read line by line, and for other programs. */
interface OverlayText {
  title: string;
  rows: readonly RowModel[];
  hints: readonly Hint[];
  /**
   * Lists all its lines, unwrapped, for a pager or an editor. An overlay without text, such as a dialog, has no such
   * function.
   */
  listLines?: (() => readonly string[]) | undefined;
}

/** The stack of overlays. Their components define what they show and how they handle input. */
export class Overlays {
  #all: readonly OverlayEntry[] = [];
  #opened = 0;
  readonly #inputs = new Map<number, (event: InputEvent) => void>();
  /** Events that the top overlay cannot handle yet, because it reads what they apply to. */
  #early: InputEvent[] = [];
  #handling: NodeJS.Immediate | undefined;
  readonly #texts = new Map<number, OverlayText>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The lowest first. */
  get all(): readonly OverlayEntry[] {
    return this.#all;
  }

  get top(): OverlayEntry | undefined {
    return this.#all.at(-1);
  }

  /** The text of the top overlay; undefined before it was rendered. */
  get text(): OverlayText | undefined {
    return this.#texts.get(this.top?.id ?? 0);
  }

  /** @returns its id */
  open(content: ReactNode): number {
    this.#opened += 1;
    this.#replace([...this.#all, { id: this.#opened, content }]);
    return this.#opened;
  }

  /** Removes an overlay and those above it. Does nothing if it is already closed. */
  close(id: number): void {
    const at = this.#all.findIndex((entry) => entry.id === id);
    if (at < 0) return;
    for (const gone of this.#all.slice(at)) {
      this.#inputs.delete(gone.id);
      this.#texts.delete(gone.id);
    }
    this.#early = [];
    this.#replace(this.#all.slice(0, at));
  }

  closeAll(): void {
    const [lowest] = this.#all;
    if (lowest !== undefined) this.close(lowest.id);
  }

  /** Passes an event to the top overlay, or keeps it until that can handle events. Escape closes it until then. */
  handleInput(event: InputEvent): void {
    const { id = 0 } = this.top ?? {};
    const handle = this.#inputs.get(id);
    if (handle !== undefined && this.#early.length === 0) handle(event);
    else if (event.kind === "key" && event.chord === "escape") this.close(id);
    else this.#early.push(event);
  }

  /** Called for every frame. Each frame handles one of the early events, because the next one applies to its effect. */
  setInput(id: number, handle: (event: InputEvent) => void): void {
    this.#inputs.set(id, handle);
    if (this.#early.length > 0) this.#handling ??= setImmediate(() => this.#handleEarly());
  }

  #handleEarly(): void {
    this.#handling = undefined;
    const [event] = this.#early;
    const handle = this.#inputs.get(this.top?.id ?? 0);
    if (event === undefined || handle === undefined) return;
    this.#early = this.#early.slice(1);
    handle(event);
    this.#onChange();
  }

  setText(id: number, text: OverlayText): void {
    this.#texts.set(id, text);
  }

  #replace(all: readonly OverlayEntry[]): void {
    this.#all = all;
    this.#onChange();
  }
}
