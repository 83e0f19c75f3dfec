import type { InputEvent } from "./event.ts";
import { PasteBuffer } from "./paste.ts";
import type { Mode, Piece } from "./piece.ts";
import { pieceOf, WINDOW } from "./pieces.ts";

/** What a `flush` would decide. */
export type Open = "escape" | "sequence" | "paste";

const CTRL_C = "\x03";

/**
 * What a terminal sends, as events. Pure: whoever feeds it calls `flush` when nothing has come for a while, which tells the
 * key Escape from the beginning of something else. What nobody knows is swallowed as a whole: it must never come out as keys.
 */
export class InputParser {
  /** Bytes whose meaning is still open, one character each. */
  #rest = "";
  #within: Mode | undefined;
  /** Nothing more came of a paste for a while. */
  #hasPaused = false;
  readonly #paste = new PasteBuffer();

  /**
   * What is still open: whether Escape was pressed, or the end of something that has begun. Undefined: nothing. A paste
   * goes on for as long as it takes.
   */
  get open(): Open | undefined {
    if (this.#within === "paste") return "paste";
    if (this.#within !== undefined) return "sequence";
    if (this.#rest === "") return undefined;
    return /^\x1b+$/.test(this.#rest) ? "escape" : "sequence";
  }

  feed(bytes: Uint8Array): InputEvent[] {
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    // The end of a paste can be lost on its way: Ctrl+C, alone and after a pause, is then the only way out.
    if (this.#hasPaused && read === CTRL_C) this.#abandon();
    this.#hasPaused = false;
    this.#rest += read;
    return this.#parse(false);
  }

  /** Nothing has come for a while: what is there is all there is. */
  flush(): InputEvent[] {
    if (this.#within === "paste") {
      this.#hasPaused = true;
      return [];
    }
    // The beginning of an end that did not come is no Escape.
    if (this.#within !== undefined) this.#rest = "";
    this.#within = undefined;
    return this.#parse(true);
  }

  #abandon(): void {
    this.#paste.clear();
    this.#within = undefined;
    this.#rest = "";
  }

  #parse(isAll: boolean): InputEvent[] {
    const events: InputEvent[] = [];
    while (this.#rest !== "") {
      const piece = this.#piece(isAll);
      if (piece === undefined) break;
      this.#rest = this.#rest.slice(piece.length);
      if (piece.begins !== undefined) this.#within = piece.begins;
      if (piece.event !== undefined) events.push(piece.event);
    }
    return events;
  }

  #piece(isAll: boolean): Piece | undefined {
    switch (this.#within) {
      case "paste":
        return this.#pasted();
      case "string":
        return this.#string();
      case "csi":
        return this.#overlong();
      default:
        return pieceOf(this.#rest.slice(0, WINDOW), isAll);
    }
  }

  #pasted(): Piece | undefined {
    const { length, text } = this.#paste.take(this.#rest);
    if (text === undefined) return length === 0 ? undefined : { length };
    return { ...this.#leave(length), event: { kind: "paste", text } };
  }

  /** Up to BEL or ESC \; a new sequence ends it too. */
  #string(): Piece | undefined {
    const end = /[\x07\x1b\x18\x1a]/.exec(this.#rest);
    if (end === null) return { length: this.#rest.length };
    if (this.#rest[end.index] !== "\x1b") return this.#leave(end.index + 1);
    const next = this.#rest[end.index + 1];
    if (next === undefined) return end.index === 0 ? undefined : { length: end.index };
    return this.#leave(next === "\\" ? end.index + 2 : end.index);
  }

  /** The rest of a sequence that is too long to be a key. */
  #overlong(): Piece {
    const end = /[^ -?]/.exec(this.#rest);
    if (end === null) return { length: this.#rest.length };
    return this.#leave(/[@-~]/.test(end[0]) ? end.index + 1 : end.index);
  }

  #leave(length: number): Piece {
    this.#within = undefined;
    return { length };
  }
}
